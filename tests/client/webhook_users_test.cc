#include "apiserver/client/webhook_users.h"

#include <catch2/catch.hpp>

#include <string>
#include <vector>

namespace apiserver::inline v0::client {
namespace {

// Whose token is for `server`; "-": nobody's.
std::string TokenFor(const std::string& kubeconfig, const std::string& server) {
  const auto users = WebhookUsers::Read(kubeconfig, "/");
  REQUIRE(users.status() == Status());
  const ClientConfig* const user = users->For(server);
  return user == nullptr ? "-" : user->token;
}

std::string WhyNot(const std::string& kubeconfig) {
  return std::string(WebhookUsers::Read(kubeconfig, "/").status().message());
}

// One user, "a", with these fields.
std::string UserA(const std::string& fields) {
  return "users: [{name: a, user: {" + fields + "}}]\n";
}

// Users by name and token, and which of them is for a server.
struct Case {
  std::string name;
  std::string server;
  std::vector<std::pair<std::string, std::string>> users;
  std::string expected;
};
void CheckCases(const std::vector<Case>& cases) {
  for (const Case& each : cases) {
    INFO(each.name);
    std::string kubeconfig = "users:\n";
    for (const auto& [name, token] : each.users) {
      kubeconfig.append("- {name: '").append(name).append("', user: {token: ").append(token);
      kubeconfig += "}}\n";
    }
    CHECK(TokenFor(kubeconfig, each.server) == each.expected);
  }
}

}  // namespace

// TestAuthenticationDetection, but for "match with impersonation": that is refused, see below.
TEST_CASE("client: a webhook is called by the user that is named after it", "[client]") {
  const std::vector<Case> cases = {
      {"empty", "foo.com", {}, "-"},
      {"exact match",
       "foo.com",
       {{"foo.com", "foo"}, {"*.com", "foo-star"}, {"bar.com", "bar"}},
       "foo"},
      {"partial star match", "foo.com", {{"*.com", "foo-star"}, {"bar.com", "bar"}}, "foo-star"},
      {"full star match", "foo.com", {{"*", "star"}, {"bar.com", "bar"}}, "star"},
      {"skip bad in cluster config",
       "kubernetes.default.svc",
       {{"*", "star"}, {"bar.com", "bar"}},
       "star"},
      {"most selective",
       "one.two.three.com",
       {{"*.two.three.com", "first"}, {"*.three.com", "second"}, {"*.com", "third"}},
       "first"}};
  CheckCases(cases);
}

// The same, where servers have ports.
TEST_CASE("client: a webhook's user is named with the port, or without that of https", "[client]") {
  const std::vector<Case> cases = {{"exact match with default https port",
                                    "one.two.three.com:443",
                                    {{"one.two.three.com:443", "exact"},
                                     {"*.two.three.com", "first"},
                                     {"*.three.com", "second"},
                                     {"*.com", "third"},
                                     {"*", "fallback"}},
                                    "exact"},
                                   {"wildcard match with default https port",
                                    "one.two.three.com:443",
                                    {{"*.two.three.com:443", "first-with-port"},
                                     {"*.two.three.com", "first"},
                                     {"*.three.com", "second"},
                                     {"*.com", "third"},
                                     {"*", "fallback"}},
                                    "first-with-port"},
                                   {"wildcard match without default https port",
                                    "one.two.three.com:443",
                                    {{"*.two.three.com", "first"},
                                     {"*.three.com", "second"},
                                     {"*.com", "third"},
                                     {"*", "fallback"}},
                                    "first"},
                                   {"exact match with non-default https port",
                                    "one.two.three.com:8443",
                                    {{"one.two.three.com:8443", "exact"},
                                     {"*.two.three.com", "first"},
                                     {"*.three.com", "second"},
                                     {"*.com", "third"},
                                     {"*", "fallback"}},
                                    "exact"},
                                   {"wildcard match with non-default https port",
                                    "one.two.three.com:8443",
                                    {{"*.two.three.com:8443", "first-with-port"},
                                     {"one.two.three.com", "first-without-port"},
                                     {"*.two.three.com", "first"},
                                     {"*.three.com", "second"},
                                     {"*.com", "third"},
                                     {"*", "fallback"}},
                                    "first-with-port"},
                                   {"wildcard match without non-default https port",
                                    "one.two.three.com:8443",
                                    {{"one.two.three.com", "first-without-port"},
                                     {"*.two.three.com", "first"},
                                     {"*.three.com", "second"},
                                     {"*.com", "third"},
                                     {"*", "fallback"}},
                                    "fallback"}};
  CheckCases(cases);
}

TEST_CASE("client: the user of the current context calls who has none, the pod its own server",
          "[client]") {
  // TestAuthenticationDetection, "fallback to current context".
  const std::string by_context =
      "users: [{name: bar.com, user: {token: bar}}]\n"
      "contexts: [{name: ctx, context: {user: bar.com}}]\ncurrent-context: ctx\n";
  CHECK(TokenFor(by_context, "foo.com") == "bar");
  CHECK(TokenFor("users: [{name: a, user: {token: t}}]\ncurrent-context: ctx\n", "b") == "-");

  auto users = WebhookUsers::Read(by_context, "/");
  REQUIRE(users.ok());
  users->SetCluster({.token = "pod"});
  CHECK(users->For("kubernetes.default.svc:443")->token == "pod");
  CHECK(users->For("kubernetes.default.svc:8443")->token == "bar");
  auto explicitly = WebhookUsers::Read("users: [{name: '*.svc', user: {token: mine}}]\n", "/");
  explicitly->SetCluster({.token = "pod"});
  CHECK(explicitly->For("kubernetes.default.svc:443")->token == "mine");

  CHECK(TokenFor("users: [{name: '::1', user: {token: six}}]", "[::1]:443") == "six");
  CHECK(WebhookUsers().For("foo.com") == nullptr);
}

TEST_CASE("client: a webhook's user has a certificate, a token or a password", "[client]") {
  const auto users = WebhookUsers::Read(
      "users:\n- {name: a, user: {client-certificate: c.pem, client-key-data: aw==}}\n"
      "- {name: b, user: {tokenFile: /t}}\n- {name: c, user: {username: jane, password: x}}\n",
      "/etc");
  REQUIRE(users.ok());
  CHECK(users->For("a")->certificate_file == "/etc/c.pem");
  CHECK(users->For("a")->key_pem == "k");
  CHECK(users->For("b")->token_file == "/t");
  CHECK(users->For("c")->username == "jane");
  CHECK(users->For("c")->password == "x");
}

TEST_CASE("client: what webhooks' users may not say is refused by name", "[client]") {
  CHECK(WhyNot("[]") == "kubeconfig: it is no object with users");
  CHECK(WhyNot("users: {}") == "kubeconfig: users is no list");
  CHECK(WhyNot("users: [{user: {}}]") == "kubeconfig: a user has no name");
  CHECK(WhyNot("users: [{name: a}, {name: a}]") == R"(kubeconfig: there are two users "a")");
  CHECK(WhyNot(UserA("exec: {command: x}")) ==
        R"(kubeconfig: exec: credential plug-ins are not supported (user "a"))");
  CHECK(WhyNot(UserA("auth-provider: {name: x}")) ==
        R"(kubeconfig: auth-provider: auth provider not supported (user "a"))");
  // TestAuthenticationDetection, "match with impersonation".
  for (const std::string field :
       {"as: user-a", "as-uid: user-a-uid-1111", "as-groups: [g]", "as-user-extra: {foo: [bar]}"}) {
    CHECK(WhyNot(UserA("token: foo, " + field)) ==
          "kubeconfig: " + field.substr(0, field.find(':')) +
              R"(: impersonation is not supported (user "a"))");
  }
  CHECK(WhyNot(UserA("client-certificate-data: '*'")) ==
        R"(kubeconfig: client-certificate-data is not base64 (user "a"))");
}

TEST_CASE("client: the kubeconfig of webhooks names its path, and files that are missing",
          "[client]") {
  const auto files = NewMemoryFileSystem();
  CHECK(WebhookUsers::ReadFile(*files, "/k").status().reason() == Reason::kNotFound);
  REQUIRE(files->WriteAtomically("/k", UserA("tokenFile: t"), 0600).ok());
  CHECK(WebhookUsers::ReadFile(*files, "/k").status() ==
        Status(Reason::kInvalid, R"(/k: kubeconfig: there is no file /t (user "a"))"));
  REQUIRE(files->WriteAtomically("/t", "secret", 0600).ok());
  CHECK(WebhookUsers::ReadFile(*files, "/k").ok());
}

}  // namespace apiserver::inline v0::client
