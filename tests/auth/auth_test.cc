#include <catch2/catch.hpp>

#include "apiserver/auth/authorizer.h"
#include "apiserver/auth/user.h"

namespace apiserver::inline v0::auth {

TEST_CASE("auth: a user knows its groups", "[auth]") {
  const UserInfo user{.name = "jane", .uid = "", .groups = {"dev", "system:authenticated"}};

  CHECK(user.InGroup("dev"));
  CHECK(user.InGroup(kAllAuthenticated));
  CHECK_FALSE(user.InGroup(kSystemPrivilegedGroup));
}

TEST_CASE("auth: get, list and watch only read", "[auth]") {
  for (const char* verb : {"get", "list", "watch"}) {
    CHECK(Attributes{.user = nullptr, .verb = verb}.IsReadOnly());
  }
  for (const char* verb : {"create", "update", "patch", "delete", "deletecollection", "proxy"}) {
    CHECK_FALSE(Attributes{.user = nullptr, .verb = verb}.IsReadOnly());
  }
}

TEST_CASE("auth: a verdict that nobody made is no opinion", "[auth]") {
  CHECK(Verdict().decision == Decision::kNoOpinion);
}

}  // namespace apiserver::inline v0::auth
