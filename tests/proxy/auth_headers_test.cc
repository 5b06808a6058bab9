#include "apiserver/proxy/auth_headers.h"

#include <catch2/catch.hpp>

#include "headers_text.h"

namespace proxy_test {
namespace {

using apiserver::auth::UserInfo;
using apiserver::http::Headers;

// The cases of k8s.io/client-go/transport.TestAuthProxyRoundTripper and TestHeaderEscapeRoundTrip.
TEST_CASE("proxy: a user is told to a backend in X-Remote headers", "[proxy]") {
  struct Case {
    UserInfo user;
    std::string headers;
  };
  const std::vector<Case> cases{
      {{.name = "user", .groups = {"groupA", "groupB"}, .extra = {{"one", {"alpha", "bravo"}}}},
       "X-Remote-User: user; X-Remote-Group: groupA; X-Remote-Group: groupB; "
       "X-Remote-Extra-one: alpha; X-Remote-Extra-one: bravo"},
      {{.name = "user", .uid = "7db46926", .groups = {"g"}},
       "X-Remote-User: user; X-Remote-Uid: 7db46926; X-Remote-Group: g"},
      {{.name = "user", .extra = {{"example.com/x y%z", {"1"}}}},
       "X-Remote-User: user; X-Remote-Extra-example.com%2Fx%20y%25z: 1"},
      {{.name = "user", .extra = {{"alpha|one", {"1"}}, {"\xe1\x88\xb4", {"2"}}}},
       "X-Remote-User: user; X-Remote-Extra-alpha|one: 1; X-Remote-Extra-%E1%88%B4: 2"},
      {{.name = "only a name"}, "X-Remote-User: only a name"},
  };
  for (const Case& each : cases) {
    Headers headers;
    apiserver::proxy::SetAuthProxyHeaders(headers, each.user);
    CHECK(TextOf(headers) == each.headers);
  }
}

// Row 31 of docs/security.md.
TEST_CASE("proxy: an identity that a client claims never reaches a backend", "[proxy]") {
  const Headers claimed{{"x-remote-user", "admin"},    {"X-Remote-Group", "system:masters"},
                        {"X-REMOTE-UID", "1"},         {"X-Remote-Extra-Scopes", "all"},
                        {"X_Remote_User", "admin"},    {"x_remote-group", "system:masters"},
                        {"X-Remote_Extra-a", "b"},     {"A", "b"},
                        {"X-Remote", "stays"},         {"X-Remote-Users", "stays"},
                        {"Impersonate-User", "admin"}, {"impersonate_group", "system:masters"},
                        {"Authorization", "Bearer x"}, {"AUTHORIZATION", "Basic y"}};

  SECTION("replaced by the user's") {
    Headers headers = claimed;
    apiserver::proxy::SetAuthProxyHeaders(headers, {.name = "jane"});
    CHECK(TextOf(headers) ==
          "A: b; X-Remote: stays; X-Remote-Users: stays; Impersonate-User: admin; "
          "impersonate_group: system:masters; Authorization: Bearer x; AUTHORIZATION: Basic y; "
          "X-Remote-User: jane");
  }
  SECTION("removed") {
    Headers headers = claimed;
    apiserver::proxy::RemoveIdentity(headers);
    CHECK(TextOf(headers) == "A: b; X-Remote: stays; X-Remote-Users: stays");
  }
}

}  // namespace
}  // namespace proxy_test
