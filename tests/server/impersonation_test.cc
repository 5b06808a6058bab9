// Who may act as whom.
#include "server/requests/impersonation.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "apiserver/http/in_process.h"
#include "apiserver/server/features.h"
#include "apiserver/server/server.h"

#include "server/described_user.h"
#include "server/filters/filters.h"
#include "widget_server.h"

namespace apiserver::inline v0::server {
namespace {

using auth::Attributes;
using auth::Decision;
using auth::UserInfo;
using auth::Verdict;

// Upstream's impersonateAuthorizer; and everybody may look who they are.
class Table final : public auth::Authorizer {
 public:
  Result<Verdict> Authorize(const Context&, const Attributes& a) const override {
    if (Allows(a)) return Verdict{Decision::kAllow};
    return Verdict{Decision::kNoOpinion, "deny by default"};
  }

 private:
  static bool Allows(const Attributes& a) {
    const UserInfo& user = *a.user;
    if (!a.resource_request && a.verb == "get" && a.path == "/who") return true;
    if (user.name == "system:admin") return true;
    if (HasGroup(user, 1, "escaped-scopes") || HasGroup(user, 1, "almost-escaped-scopes")) {
      return true;
    }
    if (a.verb != "impersonate") return false;
    if (HasGroup(user, 0, "wheel") && a.resource == "users") return true;
    if (HasGroup(user, 0, "sa-impersonater") && a.resource == "serviceaccounts") return true;
    if (HasGroup(user, 0, "regular-impersonater") && a.resource == "users") return true;
    if (HasGroup(user, 1, "group-impersonater") && a.resource == "groups") return true;
    const bool extra = a.resource == "userextras" && a.group == "authentication.k8s.io";
    if (HasGroup(user, 1, "extra-setter-scopes") && extra && a.subresource == "scopes") return true;
    if (HasGroup(user, 1, "extra-setter-particular-scopes") && extra && a.subresource == "scopes" &&
        a.name == "scope-a") {
      return true;
    }
    if (HasGroup(user, 1, "extra-setter-project") && extra && a.subresource == "project") {
      return true;
    }
    if (!HasGroup(user, 0, "everything-impersonater")) return false;
    if (a.group.empty()) return a.resource == "users" || a.resource == "groups";
    return (a.resource == "uids" && a.name == "some-uid") || (extra && a.subresource == "scopes");
  }
};

// Believes the headers Test-User and Test-Group.
class Believer final : public auth::Authenticator {
 public:
  Result<std::optional<auth::AuthenticateResponse>> Authenticate(
      const Context&, const http::Request& request) const override {
    UserInfo user{.name = std::string(request.headers.Get("Test-User"))};
    for (const std::string_view group : request.headers.GetAll("Test-Group")) {
      user.groups.emplace_back(group);
    }
    return std::optional(
        auth::AuthenticateResponse{std::make_shared<const UserInfo>(std::move(user))});
  }
};

// Says as whom a request came, by whom, and which of its headers are left.
http::Step Who(http::Exchange& exchange) {
  std::string body = Describe(*exchange.Get<auth::UserInfoPtr>());
  if (const auto* by = exchange.Find<ImpersonatedBy>()) body += " by " + by->original->name;
  for (const auto& header : exchange.request().headers) {
    if (header.name.starts_with("Impersonate-")) body += " " + header.name;
  }
  exchange.writer().Send({}, std::move(body));
  return http::Step::Done();
}

// A server that knows users by Believer and asks `authorizer`.
struct Running {
  explicit Running(bool constrained = true) {
    Config config;
    config.authenticator = std::make_shared<Believer>();
    config.authorizer = std::make_shared<Table>();
    REQUIRE(config.features.Set({{std::string(kConstrainedImpersonation), constrained}}).ok());
    server = std::move(*std::move(config).Complete()).New().value();
    REQUIRE(server->HandlePath("/who", Who, /*listed=*/true).ok());
    REQUIRE(server->PrepareRun().ok());
    REQUIRE(server->Start().ok());
    connection = http::NewInProcessConnection(server->service());
  }
  http::ClientResponse Ask(http::Headers headers) const {
    return connection
        ->Call(Context::Background(), {.target = "/who", .headers = std::move(headers)})
        .value();
  }

  std::unique_ptr<GenericAPIServer> server;
  std::unique_ptr<http::Connection> connection;
};

struct FilterCase {
  http::Headers headers;
  int code;
  std::string body = {};  // Of a 200.
};

using Field = http::Headers::Field;

// The headers of the cases below.
struct Fields {
  Field tester{"Test-User", "tester"};
  Field dev{"Test-User", "dev"};
  Field admin{"Test-User", "system:admin"};
  Field wheel{"Test-Group", "wheel"};
  Field groups{"Test-Group", "group-impersonater"};
  Field accounts{"Test-Group", "sa-impersonater"};
  Field everything{"Test-Group", "everything-impersonater"};
  Field as_admin{"Impersonate-User", "system:admin"};
  Field as_tester{"Impersonate-User", "tester"};
  Field as_unknown{"Impersonate-User", "unknown"};
  Field as_anonymous{"Impersonate-User", "system:anonymous"};
  Field some_group{"Impersonate-Group", "some-group"};
  Field authenticated{"Impersonate-Group", "system:authenticated"};
  Field unauthenticated{"Impersonate-Group", "system:unauthenticated"};
  Field scope_a{"Impersonate-Extra-scopes", "scope-a"};
  Field scope_b{"Impersonate-Extra-scopes", "scope-b"};
  Field some_uid{"Impersonate-Uid", "some-uid"};
};

// TestImpersonationFilter's refusals: user and impersonated headers.
std::vector<FilterCase> RefusedCases() {
  const Fields f;
  return {{{f.tester, {"Impersonate-User", "anyone"}}, 403},
          {{f.tester, f.some_group}, 400},
          {{f.tester, f.scope_a}, 400},
          {{f.tester, f.some_uid}, 400},
          {{f.dev, f.wheel, f.as_admin, f.some_group}, 403},
          {{f.dev, f.wheel, f.as_admin, f.some_group, f.scope_a}, 403},
          {{f.dev,
            f.wheel,
            {"Test-Group", "extra-setter-project"},
            f.as_admin,
            f.some_group,
            f.scope_a},
           403},
          {{f.dev,
            f.wheel,
            {"Test-Group", "extra-setter-particular-scopes"},
            f.as_admin,
            f.some_group,
            f.scope_a,
            f.scope_b},
           403},
          {{f.dev, f.accounts, f.as_tester}, 403},
          {{f.dev, f.everything, f.as_tester, {"Impersonate-Uid", "disallowed-uid"}}, 403}};
}

// Those of its cases with percent signs in a key.
std::vector<FilterCase> EscapedCases() {
  const Fields f;
  const std::string escaped = "Impersonate-Extra-example.com%2fescaped%e1%9b%84scopes";
  const std::string almost = "Impersonate-Extra-almost%zzpercent%xxencoded";
  return {
      {{f.dev,
        f.wheel,
        {"Test-Group", "escaped-scopes"},
        f.as_admin,
        {escaped, "scope-a"},
        {escaped, "scope-b"}},
       200,
       "system:admin||system:authenticated,|example.com/escaped\u16c4scopes=scope-a,scope-b, by "
       "dev"},
      {{f.dev,
        f.wheel,
        {"Test-Group", "almost-escaped-scopes"},
        f.as_admin,
        {almost, "scope-a"},
        {almost, "scope-b"}},
       200,
       "system:admin||system:authenticated,|almost%zzpercent%xxencoded=scope-a,scope-b, by dev"}};
}

// And the others, with who comes out.
std::vector<FilterCase> AllowedCases() {
  const Fields f;
  const std::string by_dev = ", by dev";
  const std::string by_admin = ", by system:admin";
  return {
      {{f.tester}, 200, "tester||"},
      {{f.dev, f.wheel, f.groups, f.as_admin, f.some_group},
       200,
       "system:admin||some-group,system:authenticated" + by_dev},
      {{f.dev, f.wheel, {"Test-Group", "extra-setter-scopes"}, f.as_admin, f.scope_a, f.scope_b},
       200,
       "system:admin||system:authenticated,|scopes=scope-a,scope-b" + by_dev},
      {{f.dev, {"Test-Group", "regular-impersonater"}, f.as_tester},
       200,
       "tester||system:authenticated" + by_dev},
      {{f.dev, f.accounts, {"Impersonate-User", "system:serviceaccount:foo:default"}},
       200,
       "system:serviceaccount:foo:default||system:serviceaccounts,system:serviceaccounts:foo,"
       "system:authenticated" +
           by_dev},
      {{f.admin, f.as_anonymous}, 200, "system:anonymous||system:unauthenticated" + by_admin},
      {{f.admin, f.as_unknown, f.unauthenticated},
       200,
       "unknown||system:unauthenticated" + by_admin},
      {{f.admin, f.as_unknown, f.authenticated}, 200, "unknown||system:authenticated" + by_admin},
      {{f.dev, f.wheel, f.groups, f.as_admin, f.some_group, f.authenticated},
       200,
       "system:admin||some-group,system:authenticated" + by_dev},
      {{f.admin, f.as_anonymous, f.unauthenticated},
       200,
       "system:anonymous||system:unauthenticated" + by_admin},
      {{f.dev, f.everything, f.as_tester, f.some_uid},
       200,
       "tester|some-uid|system:authenticated" + by_dev},
      {{f.dev, f.everything, f.as_tester, f.some_uid, f.authenticated, f.scope_a, f.scope_b},
       200,
       "tester|some-uid|system:authenticated,|scopes=scope-a,scope-b" + by_dev}};
}

}  // namespace

// TestImpersonationFilter
TEST_CASE("server: who may impersonate becomes whom the headers name", "[server]") {
  for (const bool constrained : {true, false}) {
    const Running running(constrained);
    for (const auto& cases : {RefusedCases(), EscapedCases(), AllowedCases()}) {
      for (const FilterCase& each : cases) {
        CAPTURE(constrained, each.headers.size(), each.body);
        const http::ClientResponse answer = running.Ask(each.headers);
        CHECK(answer.code == each.code);
        // As responsewriters.RespondWithError.
        CHECK(answer.headers.Get("X-Content-Type-Options") == (each.code == 200 ? "" : "nosniff"));
        if (each.code == 200) CHECK(answer.body == each.body);
      }
    }
  }
}

// The texts of buildImpersonationRequests. The extras stand in the order of their keys here, in
// Go's in any.
TEST_CASE("server: headers without a user are refused with what they name", "[server]") {
  struct RefusedHeaders {
    http::Headers headers;
    std::string named;
  };
  const std::vector<RefusedHeaders> rows = {
      {{{"Impersonate-Group", "x"}}, "[{Group  x    }]"},
      {{{"Impersonate-Group", ""}}, "[{Group      }]"},
      {{{"impersonate-extra-Scopes", "a"}, {"Impersonate-Extra-scopes", "b"}},
       "[{UserExtra  a  authentication.k8s.io/v1  scopes} "
       "{UserExtra  b  authentication.k8s.io/v1  scopes}]"},
      {{{"Impersonate-Uid", "u"}, {"Impersonate-Group", "x"}},
       "[{Group  x    } {UID  u  authentication.k8s.io/v1  }]"},
  };
  for (const bool constrained : {true, false}) {
    const Running running(constrained);
    for (const RefusedHeaders& row : rows) {
      CAPTURE(constrained, row.named);
      http::Headers headers = row.headers;
      headers.Add("Test-User", "tester");

      const http::ClientResponse answer = running.Ask(headers);

      CHECK(answer.code == 400);
      CHECK(testing::Contains(answer.body, R"("message":"requested )" + row.named +
                                               R"( without impersonating a user","reason":)"
                                               R"("BadRequest","code":400})"));
    }
  }
}

TEST_CASE("server: nobody impersonates by headers in another case, or twice", "[server]") {
  const Running running;
  CHECK(running.Ask({{"Test-User", "tester"}, {"iMPERSONATE-uSER", "system:admin"}}).code == 403);
  CHECK(running
            .Ask({{"Test-User", "dev"},
                  {"Test-Group", "regular-impersonater"},
                  {"Impersonate-User", "jane"},
                  {"Impersonate-User", "system:admin"}})
            .body == "jane||system:authenticated, by dev");
}

}  // namespace apiserver::inline v0::server
