#include "apiserver/auth/service_account.h"

#include <catch2/catch.hpp>

namespace apiserver::inline v0::auth::serviceaccount {

// TestMakeUsername, TestMatchUsername
TEST_CASE("auth: a service account's user name says which account it is", "[auth]") {
  CHECK(MakeUsername("foo", "bar") == "system:serviceaccount:foo:bar");
  const auto account = SplitUsername("system:serviceaccount:foo:bar.baz");
  REQUIRE(account);
  CHECK(account->namespace_ == "foo");
  CHECK(account->name == "bar.baz");
  CHECK(MakeGroupNames("foo") ==
        std::vector<std::string>{"system:serviceaccounts", "system:serviceaccounts:foo"});
}

// TestMakeSplitUsername's bad ones
TEST_CASE("auth: what is no service account's user name is taken for none", "[auth]") {
  for (const char* name : {"test", "system:serviceaccount:test", "system:serviceaccount:test:",
                           "system:serviceaccount:", "system:serviceaccount::test",
                           "system:serviceaccount:foo:bar:baz", "system:serviceaccount:foo:Bar",
                           "system:serviceaccount:foo.bar:baz", "system:serviceaccount:foo:b r",
                           "xsystem:serviceaccount:foo:bar"}) {
    CAPTURE(name);
    CHECK_FALSE(SplitUsername(name));
  }
}

// TestServiceAccountUserInfo
TEST_CASE("auth: what is known of a service account is the user's extra", "[auth]") {
  CHECK(ServiceAccountInfo{.name = "name", .namespace_ = "ns", .uid = "uid"}.ToUserInfo() ==
        UserInfo{.name = "system:serviceaccount:ns:name",
                 .uid = "uid",
                 .groups = {"system:serviceaccounts", "system:serviceaccounts:ns"}});
  CHECK(ServiceAccountInfo{.name = "name",
                           .namespace_ = "ns",
                           .pod_name = "pod",
                           .pod_uid = "pod-uid",
                           .credential_id = "JTI=1",
                           .node_name = "node",
                           .node_uid = "node-uid"}
            .ToUserInfo()
            .extra == std::map<std::string, std::vector<std::string>>{
                          {"authentication.kubernetes.io/credential-id", {"JTI=1"}},
                          {"authentication.kubernetes.io/node-name", {"node"}},
                          {"authentication.kubernetes.io/node-uid", {"node-uid"}},
                          {"authentication.kubernetes.io/pod-name", {"pod"}},
                          {"authentication.kubernetes.io/pod-uid", {"pod-uid"}}});
  CHECK(ServiceAccountInfo{.name = "n", .namespace_ = "ns", .pod_name = "pod", .node_uid = "u"}
            .ToUserInfo()
            .extra.empty());
}

}  // namespace apiserver::inline v0::auth::serviceaccount
