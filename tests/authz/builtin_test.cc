#include "apiserver/authz/builtin.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "authz/asking.h"

namespace {

namespace auth = apiserver::auth;
namespace authz = apiserver::authz;
using asking::Answer;
using asking::User;

// path_test.go TestNewAuthorizer.
TEST_CASE("authz: always-allow paths allow what they name", "[authz]") {
  struct Row {
    std::vector<std::string> paths;
    std::vector<std::string> allowed;
    std::vector<std::string> no_opinion;
  };
  const std::vector<Row> rows{
      {{}, {}, {"/"}},
      {{"/"}, {"/"}, {"/foo", "//"}},
      {{"/foo"}, {"/foo", "foo"}, {"/", "", "/bar", "/foo/", "/fooooo", "//foo"}},
      {{"/foo/"}, {"/foo/"}, {"/", "", "/bar", "/foo", "/fooooo"}},
      {{"/foo/*"}, {"/foo/", "/foo/bar/bla"}, {"/", "", "/foo", "/bar", "/fooooo"}},
      {{"/foo", "/bar"}, {"/foo", "/bar"}, {"/", "", "/foo/", "/bar/", "/fooooo"}},
      {{"/foo*"}, {"/foo", "/foooo"}, {"/", "", "/fo", "/bar"}},
      {{"/*"}, {"/", "", "/foo", "/foooo"}, {}},
  };
  for (const Row& row : rows) {
    const auto authorizer = authz::NewAlwaysAllowPaths(row.paths);
    REQUIRE(authorizer.ok());
    for (const std::string& path : row.allowed) {
      INFO(path);
      CHECK(Answer(**authorizer, {.user = User("x"), .path = path}) == "allow");
    }
    for (const std::string& path : row.no_opinion) {
      INFO(path);
      CHECK(Answer(**authorizer, {.user = User("x"), .path = path}) == "no opinion");
    }
  }
}

TEST_CASE("authz: a star within an always-allow path is refused", "[authz]") {
  CHECK(authz::NewAlwaysAllowPaths({"/foo*bar"}).status().message() ==
        R"(only trailing * allowed in "foo*bar")");
  CHECK(authz::NewAlwaysAllowPaths({"/ok", "/foo**"}).status().message() ==
        R"(only trailing * allowed in "foo**")");
}

TEST_CASE("authz: always-allow paths have no opinion of resources", "[authz]") {
  const auto authorizer = authz::NewAlwaysAllowPaths({"/*"});
  REQUIRE(authorizer.ok());
  CHECK(Answer(**authorizer, {.user = User("x"),
                              .verb = "get",
                              .resource_request = true,
                              .resource = "pods",
                              .path = "/api/v1/pods"}) == "no opinion");
}

// builtin_test.go TestNewAlwaysAllowAuthorizer and TestNewAlwaysDenyAuthorizer.
TEST_CASE("authz: one allows always, one never", "[authz]") {
  CHECK(Answer(*authz::NewAlwaysAllow(), {.user = User("x")}) == "allow");
  CHECK(Answer(*authz::NewAlwaysDeny(), {.user = User("x")}) ==
        "no opinion: Everything is forbidden.");
}

TEST_CASE("authz: who may everything holds every rule", "[authz]") {
  const auth::Rules rules =
      authz::NewAlwaysAllowRules()->RulesFor(apiserver::Context::Background(), User("x"), "ns");
  REQUIRE(rules.resource_rules.size() == 1);
  CHECK(rules.resource_rules[0].verbs == std::vector<std::string>{"*"});
  CHECK(rules.resource_rules[0].groups == std::vector<std::string>{"*"});
  CHECK(rules.resource_rules[0].resources == std::vector<std::string>{"*"});
  REQUIRE(rules.non_resource_rules.size() == 1);
  CHECK(rules.non_resource_rules[0].paths == std::vector<std::string>{"*"});
  CHECK_FALSE(rules.incomplete);
}

// builtin_test.go TestPrivilegedGroupAuthorizer.
TEST_CASE("authz: privileged groups may everything, others nothing", "[authz]") {
  const auto authorizer = authz::NewPrivilegedGroups({"allow-01", "allow-02"});
  CHECK(Answer(*authorizer, {.user = User("a", {"no", "allow-01"})}) == "allow");
  CHECK(Answer(*authorizer, {.user = User("b", {"allow-02"})}) == "allow");
  CHECK(Answer(*authorizer, {.user = User("allow-01", {"deny-01", "allow-0"})}) == "no opinion");
  CHECK(Answer(*authorizer, {.user = User("d")}) == "no opinion");
}

}  // namespace
