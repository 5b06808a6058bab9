// A chain of authorizers that a file describes, and how it changes.
#include "apiserver/authz/config_file.h"

#include <catch2/catch.hpp>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "authz/asking.h"
#include "base/manual.h"
#include "client/fake_http_client.h"

namespace apiserver::inline v0::authz {
namespace {

using asking::User;

constexpr const char* kPath = "/etc/authorization.yaml";
const std::string kHead =
    "apiVersion: apiserver.config.k8s.io/v1\nkind: AuthorizationConfiguration\nauthorizers:\n";
const std::string kRbac = "- {type: RBAC, name: rbac}\n";
const std::string kAlwaysAllow = "- {type: AlwaysAllow, name: alwaysallow}\n";

std::string WebhookText(const std::string& name, const std::string& policy,
                        const std::string& connection = "") {
  const std::string kubeconfig = "{type: KubeConfigFile, kubeConfigFile: /etc/" + name + "}";
  return "- type: Webhook\n  name: " + name +
         "\n  webhook:\n    timeout: 3s\n    subjectAccessReviewVersion: v1\n    failurePolicy: " +
         policy + "\n    connectionInfo: " + (connection.empty() ? kubeconfig : connection) + "\n";
}

// A file, the webhooks that it names (their answers by their host), and roles.
struct LoadedChain {
  LoadedChain() {
    clock.Advance(std::chrono::seconds(1000));
    REQUIRE(files->MakeDirectories("/etc", 0755).ok());
    for (const std::string name : {"first", "second"}) {
      REQUIRE(files->WriteAtomically("/etc/" + name, KubeconfigFor(name), 0600).ok());
    }
    roles->Upsert(rbac::Role{"", "reader", {{.verbs = {"get"}, .non_resource_urls = {"/x"}}}});
    roles->Upsert(rbac::Binding{
        "", "jane", {"ClusterRole", "reader"}, {{std::string(rbac::kUserKind), "jane"}}});
    options = {.path = kPath,
               .executor = &executor,
               .files = files.get(),
               .rbac = roles,
               .new_client = [this](const client::HttpClientOptions&) { return http; },
               .backoff = {.steps = 1},
               .clock = &clock,
               .metrics = registry.get(),
               .server_id = "server"};
  }
  static std::string KubeconfigFor(const std::string& name) {
    return "current-context: x\ncontexts: [{name: x, context: {cluster: c, user: u}}]\n"
           "clusters: [{name: c, cluster: {server: 'https://" +
           name + ".test/ask'}}]\nusers: [{name: u, user: {token: of-" + name + "}}]\n";
  }
  void Write(const std::string& authorizers) {
    REQUIRE(files->WriteAtomically(kPath, kHead + authorizers, 0600).ok());
  }
  std::string Load(const std::string& authorizers) {
    Write(authorizers);
    auto loaded = LoadAuthorizationConfigFile(options);
    if (!loaded.ok()) return std::string(loaded.status().message());
    file = *std::move(loaded);
    return "";
  }
  std::string Changed(const std::string& authorizers) {
    Write(authorizers);
    return std::string(file->Check().message());
  }
  std::string Ask(const std::string& user, std::vector<std::string> groups = {}) const {
    return asking::Answer(*file->authorizer(),
                          {.user = User(user, std::move(groups)), .verb = "get", .path = "/x"});
  }
  // The value of a series; "": it is not shown.
  std::string Counted(const std::string& series) const {
    const std::string text = registry->Serialize();
    const std::size_t at = text.find("\n" + series + " ");
    if (at == std::string::npos) return "";
    const std::size_t begin = at + series.size() + 2;
    return text.substr(begin, text.find('\n', begin) - begin);
  }

  testing::ManualClock clock;
  testing::ManualExecutor executor;
  std::unique_ptr<FileSystem> files = NewMemoryFileSystem();
  std::unique_ptr<metrics::Registry> registry = metrics::NewRegistry();
  std::map<std::string, Result<http::ClientResponse>> answers;  // By URL.
  std::shared_ptr<testing::FakeHttpClient> http = std::make_shared<testing::FakeHttpClient>(
      [this](const client::HttpRequest& request) { return answers.at(request.url); });
  std::shared_ptr<rbac::RbacAuthorizer> roles = rbac::NewRbacAuthorizer();
  AuthorizationConfigFileOptions options;
  std::unique_ptr<AuthorizationConfigFile> file;
};

http::ClientResponse Review(const std::string& status, const std::string& version = "v1") {
  return {.code = 200,
          .body = R"({"kind":"SubjectAccessReview","apiVersion":"authorization.k8s.io/)" + version +
                  R"(","status":)" + status + "}"};
}

const std::string kFirst = "https://first.test/ask";
const std::string kSecond = "https://second.test/ask";
const std::string kDecisions = "apiserver_authorization_decisions_total";
const std::string kReloads = "apiserver_authorization_config_controller_automatic_reloads_total";
// sha256 of "server".
const std::string kServer = R"(apiserver_id_hash="sha256:b3eacd33433b31b5252351032c9b3e7a)"
                            R"(2e7aa7738d5decdf0dd6c62680853c06")";

}  // namespace

// webhook.LoadKubeconfig looks at no scheme.
TEST_CASE("authz: a webhook's kubeconfig may say http", "[authz]") {
  LoadedChain chain;
  std::string config = LoadedChain::KubeconfigFor("first");
  config.replace(config.find("https://"), 5, "http");
  REQUIRE(chain.files->WriteAtomically("/etc/first", config, 0600).ok());
  REQUIRE(chain.Load(WebhookText("first", "NoOpinion")) == "");
  chain.answers.emplace("http://first.test/ask", Review(R"({"allowed":true})"));

  CHECK(chain.Ask("jane").starts_with("allow"));
}

TEST_CASE("authz: the authorizers of a file are asked in its order, and counted", "[authz]") {
  LoadedChain chain;
  REQUIRE(chain.Load(WebhookText("first", "NoOpinion") + WebhookText("second", "Deny") + kRbac) ==
          "");
  chain.answers.emplace(kFirst, Review(R"({"allowed":false,"reason":"first knows nothing"})"));
  chain.answers.emplace(kSecond, Review(R"({"allowed":false,"reason":"second neither"})"));

  CHECK(chain.Ask("jane") ==
        R"(allow: RBAC: allowed by ClusterRoleBinding "jane" of ClusterRole "reader" to User )"
        R"("jane")");
  REQUIRE(chain.http->requests.size() == 2);
  CHECK(chain.http->requests[0].headers.Get("Authorization") == "Bearer of-first");
  CHECK(chain.http->requests[1].headers.Get("Authorization") == "Bearer of-second");
  CHECK(chain.Ask("joe") == "no opinion: first knows nothing\nsecond neither");

  chain.answers.at(kFirst) = Review(R"({"allowed":false,"denied":true,"reason":"never"})");
  CHECK(chain.Ask("max") == "deny: never");
  CHECK(chain.http->requests.size() == 5);
  // system:masters is asked about by nobody.
  CHECK(chain.Ask("admin", {"system:masters"}) == "allow");
  CHECK(chain.http->requests.size() == 5);

  CHECK(chain.Counted(kDecisions + R"({type="RBAC",name="rbac",decision="allowed"})") == "1");
  CHECK(chain.Counted(kDecisions + R"({type="Webhook",name="first",decision="denied"})") == "1");
  CHECK(chain.Counted(kDecisions + R"({type="Webhook",name="second",decision="denied"})").empty());
  CHECK(
      chain.Counted(
          R"(apiserver_authorization_webhook_evaluations_total{name="first",result="success"})") ==
      "3");
}

TEST_CASE("authz: a webhook of a file that fails is passed over, or denies", "[authz]") {
  LoadedChain chain;
  const std::string evaluations = "apiserver_authorization_webhook_evaluations_total";
  const std::string open = "apiserver_authorization_webhook_evaluations_fail_open_total";
  SECTION("open") {
    REQUIRE(chain.Load(WebhookText("first", "NoOpinion") + kAlwaysAllow) == "");
    chain.answers.emplace(kFirst, Status(Reason::kTimeout, "too slow"));
    CHECK(chain.Ask("jane") == "allow");
    CHECK(chain.Counted(open + R"({name="first",result="timeout"})") == "1");
    CHECK(chain.Counted(evaluations + R"({name="first",result="timeout"})") == "1");
    // Well delivered, but no review.
    chain.answers.at(kFirst) = Review(R"({"allowed":"yes"})");
    CHECK(chain.Ask("joe") == "allow");
    CHECK(chain.Counted(open + R"({name="first",result="error"})") == "1");
    CHECK(chain.Counted(evaluations + R"({name="first",result="error"})") == "1");
    CHECK(chain.Counted(evaluations + R"({name="first",result="success"})").empty());
  }
  SECTION("closed") {
    REQUIRE(chain.Load(WebhookText("first", "Deny") + kAlwaysAllow) == "");
    chain.answers.emplace(kFirst, http::ClientResponse{.code = 500, .body = "oops"});
    CHECK(chain.Ask("jane") == "deny: the authorization webhook could not be asked");
    CHECK(chain.Counted(open + R"({name="first",result="error"})").empty());
    CHECK(chain.Counted(kDecisions + R"({type="Webhook",name="first",decision="denied"})") == "1");
  }
  SECTION("open, and nobody else decides") {
    REQUIRE(chain.Load(WebhookText("first", "NoOpinion") + kRbac) == "");
    chain.answers.emplace(kFirst, Status(Reason::kServiceUnavailable, "nobody there"));
    CHECK(chain.Ask("joe") == "error: nobody there");
  }
}

TEST_CASE("authz: answers of a webhook hold as long as the file says", "[authz]") {
  LoadedChain chain;
  REQUIRE(chain.Load(WebhookText("first", "Deny") + "    authorizedTTL: 10s\n" +
                     "    cacheUnauthorizedRequests: false\n") == "");
  chain.answers.emplace(kFirst, Review(R"({"allowed":true})"));
  CHECK(chain.Ask("jane") == "allow");
  CHECK(chain.Ask("jane") == "allow");
  CHECK(chain.http->requests.size() == 1);
  chain.clock.Advance(std::chrono::seconds(11));
  chain.answers.at(kFirst) = Review(R"({"allowed":false})");
  CHECK(chain.Ask("jane") == "no opinion");
  CHECK(chain.Ask("jane") == "no opinion");
  CHECK(chain.http->requests.size() == 3);
  CHECK(chain.http->requests[0].timeout == std::chrono::seconds(3));
}

TEST_CASE("authz: a webhook in the cluster is its SubjectAccessReview API", "[authz]") {
  LoadedChain chain;
  const std::string in_cluster = WebhookText("first", "Deny", "{type: InClusterConfig}");
  CHECK(chain.Load(in_cluster) ==
        "authorization configuration /etc/authorization.yaml: line 10: "
        "authorizers[0].webhook.connectionInfo.type is InClusterConfig, but this server runs in no "
        "pod; use KubeConfigFile");
  chain.options.cluster = client::ClientConfig{.server = "https://10.0.0.1:443", .token = "pod"};
  REQUIRE(chain.Load(in_cluster) == "");
  chain.answers.emplace("https://10.0.0.1:443/apis/authorization.k8s.io/v1/subjectaccessreviews",
                        Review(R"({"allowed":true})"));
  CHECK(chain.Ask("jane") == "allow");
}

TEST_CASE("authz: a changed chain decides, a wrong one changes nothing", "[authz]") {
  LoadedChain chain;
  REQUIRE(chain.Load(kRbac) == "");
  CHECK(chain.Ask("joe") == "no opinion");
  CHECK(chain.Counted(kReloads + R"({status="success",)" + kServer + "}").empty());

  CHECK(chain.Changed(kRbac + kAlwaysAllow) == "");
  CHECK(chain.Ask("joe") == "allow");
  CHECK(chain.Counted(kReloads + R"({status="success",)" + kServer + "}") == "1");

  const std::string failures = kReloads + R"({status="failure",)" + kServer + "}";
  const std::string in_file = "authorization configuration /etc/authorization.yaml: ";
  CHECK(chain.Changed(kRbac + kAlwaysAllow + "- {type: Node, name: node}\n") ==
        in_file +
            "line 6: authorizers[2].type is Node, which this server does not have; leave it out, "
            "or ask a webhook that has it");
  CHECK(chain.Ask("joe") == "allow");
  CHECK(chain.Counted(failures) == "1");
  // The same text is judged once.
  CHECK_FALSE(chain.file->Check().ok());
  CHECK(chain.Counted(failures) == "1");
  // What was there before is in use already.
  CHECK(chain.Changed(kRbac + kAlwaysAllow) == "");
  CHECK(chain.Counted(kReloads + R"({status="success",)" + kServer + "}") == "1");

  REQUIRE(chain.files->Remove(kPath).ok());
  CHECK(chain.file->Check().reason() == Reason::kNotFound);
  CHECK(chain.Ask("joe") == "allow");
  CHECK(chain.Counted(failures) == "2");

  REQUIRE(chain.files->WriteAtomically("/etc/first", "current-context: none\n", 0600).ok());
  CHECK(chain.Changed(kRbac + kAlwaysAllow + WebhookText("first", "Deny")) ==
        in_file + R"(authorizer first: /etc/first: kubeconfig: there is no context "none")");
  CHECK(chain.Ask("joe") == "allow");
  CHECK(chain.Counted(failures) == "3");
}

// Row 70 of docs/security.md.
TEST_CASE("authz: SubjectAccessReviews go to a plain URL", "[authz]") {
  LoadedChain chain;
  const std::string good = LoadedChain::KubeconfigFor("first");
  const std::string plain = "https://first.test/ask";
  const auto error = [&](const std::string& url) {
    std::string bad = good;
    REQUIRE(bad.find(plain) != std::string::npos);
    bad.replace(bad.find(plain), plain.size(), url);
    REQUIRE(chain.files->WriteAtomically("/etc/first", bad, 0600).ok());
    return chain.Load(WebhookText("first", "Deny"));
  };
  const std::string in_file =
      "authorization configuration /etc/authorization.yaml: authorizer first: /etc/first: "
      "kubeconfig: ";
  CHECK(error(plain) == "");
  CHECK(error("http://first.test/") == "");
  CHECK(error("ftp://first.test/") ==
        in_file +
            R"(server "ftp://first.test/": 'https' and 'http' are the only allowed URL schemes)");
  CHECK(error("https://first.test@169.254.169.254/") ==
        in_file + "server names a user in its URL; give username and password instead");
  CHECK(error("https://[169.254.169.254]/") ==
        in_file + R"(server: parse "https://[169.254.169.254]/": invalid IP-literal)");
}

TEST_CASE("authz: who was asked at the start is asked until the end, but for webhooks", "[authz]") {
  LoadedChain chain;
  const std::string in_file = "authorization configuration /etc/authorization.yaml: ";
  REQUIRE(chain.Load(WebhookText("first", "Deny") + kAlwaysAllow) == "");
  CHECK(chain.file->Has("AlwaysAllow"));
  CHECK_FALSE(chain.file->Has("RBAC"));
  CHECK(chain.Changed(WebhookText("second", "Deny")) ==
        in_file + "missing required types: [AlwaysAllow]; put them back, or restart the server");
  CHECK(chain.Changed(kAlwaysAllow + kRbac) ==
        in_file +
            "line 5: authorizers[1].type is wrong: authorizer type RBAC is not allowed if it was "
            "not enabled at initial server startup; restart the server");
  CHECK(chain.Changed(kAlwaysAllow) == "");
}

TEST_CASE("authz: RBAC in a file needs a server with roles", "[authz]") {
  LoadedChain chain;
  chain.options.rbac = nullptr;
  CHECK(chain.Load(kAlwaysAllow + kRbac) ==
        "authorization configuration /etc/authorization.yaml: line 5: authorizers[1].type is RBAC, "
        "but this server has no roles of its own; leave it out");
}

TEST_CASE("authz: a chain lists the rules of those who can", "[authz]") {
  LoadedChain chain;
  REQUIRE(chain.Load(kRbac + "- {type: AlwaysDeny, name: alwaysdeny}\n") == "");
  const auto rules = [&](const std::string& user) {
    return chain.file->rules()->RulesFor(Context::Background(), User(user), "");
  };
  CHECK(rules("jane").non_resource_rules.size() == 1);
  CHECK_FALSE(rules("jane").incomplete);
  CHECK(chain.Ask("joe") == "no opinion: Everything is forbidden.");
  CHECK(chain.Changed(kRbac + "- {type: AlwaysDeny, name: alwaysdeny}\n" +
                      WebhookText("first", "Deny")) == "");
  CHECK(rules("jane").incomplete);
  CHECK(rules("jane").error == "webhook authorizer does not support user rule resolution");
}

}  // namespace apiserver::inline v0::authz
