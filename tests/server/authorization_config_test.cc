// A server whose authorizers stand in a file: two webhooks, asked without holding a thread.
#include <catch2/catch.hpp>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "apiserver/authn/bearer_token.h"
#include "apiserver/authz/config_file.h"
#include "apiserver/base/executor.h"
#include "apiserver/http/in_process.h"
#include "authn/fake_http_client.h"
#include "widget_server.h"

namespace apiserver::inline v0::server {
namespace {

using authn::FakeHttpClient;

http::Step Welcome(http::Exchange& exchange) {
  exchange.writer().Send({}, "welcome");
  return http::Step::Done();
}

std::string WebhookNamed(const std::string& name, const std::string& policy) {
  return "- type: Webhook\n  name: " + name +
         "\n  webhook:\n    timeout: 3s\n    subjectAccessReviewVersion: v1\n    failurePolicy: " +
         policy +
         "\n    cacheAuthorizedRequests: false\n    cacheUnauthorizedRequests: false\n"
         "    connectionInfo: {type: KubeConfigFile, kubeConfigFile: /" +
         name + "}\n";
}

http::ClientResponse ReviewWith(const std::string& status) {
  return {.code = 200,
          .body = R"({"kind":"SubjectAccessReview","apiVersion":"authorization.k8s.io/v1",)"
                  R"("status":)" +
                  status + "}"};
}

// A server by such a file. Each webhook has a client of its own, told by its token; what it answers
// is the test's affair.
struct ServerByFile {
  explicit ServerByFile(const std::string& authorizers) {
    for (const auto& [name, webhook] : webhooks) {
      REQUIRE(files
                  ->WriteAtomically("/" + name,
                                    "current-context: x\n"
                                    "contexts: [{name: x, context: {cluster: c}}]\n"
                                    "clusters: [{name: c, cluster: {server: 'https://webhook.test',"
                                    " tls-server-name: " +
                                        name + "}}]\n",
                                    0600)
                  .ok());
    }
    Write(authorizers);
    file =
        authz::LoadAuthorizationConfigFile({.path = "/authorization.yaml",
                                            .executor = executor.get(),
                                            .files = files.get(),
                                            .new_client =
                                                [this](const client::HttpClientOptions& options) {
                                                  return webhooks.at(options.tls.server_name);
                                                },
                                            .backoff = {.steps = 1},
                                            .metrics = registry.get()})
            .value();
    Config config;
    config.authenticator = authn::NewBearerToken(
        authn::NewStaticTokens({{.token = "secret", .user = {.name = "jane"}}}));
    config.authorizer = file->authorizer();
    config.metrics = registry;
    server = std::move(*std::move(config).Complete()).New().value();
    REQUIRE(server->HandlePath("/welcome", Welcome, /*listed=*/true).ok());
    REQUIRE(server->PrepareRun().ok());
    REQUIRE(server->Start().ok());
    connection = http::NewInProcessConnection(server->service());
  }
  void Write(const std::string& authorizers) {
    REQUIRE(files
                ->WriteAtomically("/authorization.yaml",
                                  "apiVersion: apiserver.config.k8s.io/v1\n"
                                  "kind: AuthorizationConfiguration\nauthorizers:\n" +
                                      authorizers,
                                  0600)
                .ok());
  }
  Thread Call() {
    return Thread("caller", [this] {
      answer =
          connection->Call(Context::Background(),
                           {.target = "/welcome", .headers = {{"Authorization", "Bearer secret"}}});
    });
  }
  // Returns when the loop has done all that was begun before: a question may be asked already while
  // the request that waits for it still runs.
  void Settle() const {
    REQUIRE(connection->Call(Context::Background(), {.target = "/welcome"})->code == 401);
  }
  // "200 welcome", when the webhooks have answered so; each is asked once.
  std::string Answered(const Result<http::ClientResponse>& first,
                       const Result<http::ClientResponse>& second) {
    webhooks["first"]->AnswerNext(first);
    webhooks["second"]->AnswerNext(second);
    Thread caller = Call();
    caller.Join();
    return Said();
  }
  std::string Said() const {
    return answer.ok() ? std::to_string(answer->code) + " " + answer->body
                       : answer.status().ToString();
  }
  bool Counts(const std::string& line) const {
    return registry->Serialize().find("\n" + line + "\n") != std::string::npos;
  }

  std::map<std::string, std::shared_ptr<FakeHttpClient>> webhooks{
      {"first", std::make_shared<FakeHttpClient>()},
      {"second", std::make_shared<FakeHttpClient>()}};
  std::unique_ptr<FileSystem> files = NewMemoryFileSystem();
  std::shared_ptr<metrics::Registry> registry = metrics::NewRegistry();
  std::unique_ptr<ThreadPool> executor = NewThreadPool({.name = "authorization", .threads = 1});
  std::unique_ptr<authz::AuthorizationConfigFile> file;
  std::unique_ptr<GenericAPIServer> server;
  std::unique_ptr<http::Connection> connection;
  Result<http::ClientResponse> answer = Status(Reason::kUnknown, "");
};

const http::ClientResponse kAllowed = ReviewWith(R"({"allowed":true})");
const http::ClientResponse kDenied = ReviewWith(R"({"denied":true,"reason":"not jane"})");
const http::ClientResponse kUndecided = ReviewWith(R"({"allowed":false,"reason":"who is jane?"})");
const std::string kForbidden =
    R"(403 {"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":)"
    R"("forbidden: User \"jane\" cannot get path \"/welcome\": )";

}  // namespace

TEST_CASE("server: the second webhook of a chain decides what the first does not", "[server]") {
  ServerByFile by_file(WebhookNamed("first", "NoOpinion") + WebhookNamed("second", "Deny"));
  const auto asked = [&](const std::string& name) {
    return by_file.webhooks.at(name)->requests().size();
  };
  CHECK(by_file.Answered(kUndecided, kAllowed) == "200 welcome");
  CHECK(by_file.Answered(kUndecided, kDenied).starts_with(kForbidden + "not jane"));
  CHECK(by_file.Answered(kUndecided, kUndecided)
            .starts_with(kForbidden + R"(who is jane?\nwho is jane?)"));
  CHECK(asked("first") == 3);
  CHECK(asked("second") == 3);
  // The last call of this server: the second keeps its answer.
  CHECK(by_file.Answered(kDenied, kAllowed).starts_with(kForbidden + "not jane"));
  CHECK(asked("first") == 4);
  CHECK(asked("second") == 3);
  CHECK(
      by_file.Counts("apiserver_authorization_decisions_total"
                     R"({type="Webhook",name="first",decision="denied"} 1)"));
  CHECK(
      by_file.Counts("apiserver_authorization_decisions_total"
                     R"({type="Webhook",name="second",decision="denied"} 1)"));
}

TEST_CASE("server: a webhook that fails open leaves it to the next, one that fails closed denies",
          "[server]") {
  ServerByFile by_file(WebhookNamed("first", "NoOpinion") + WebhookNamed("second", "Deny"));
  const http::ClientResponse broken{.code = 500, .body = "oops"};
  // Seen without a thread: the first is asked about again once the second has answered.
  Thread caller = by_file.Call();
  REQUIRE(by_file.webhooks["first"]->WaitForWaiting(1));
  by_file.Settle();
  by_file.webhooks["first"]->Answer(broken);
  REQUIRE(by_file.webhooks["second"]->WaitForWaiting(1));
  by_file.Settle();
  by_file.webhooks["second"]->Answer(kAllowed);
  caller.Join();
  CHECK(by_file.Said() == "200 welcome");
  CHECK(by_file.webhooks["first"]->requests().size() == 1);
  CHECK(
      by_file.Counts("apiserver_authorization_webhook_evaluations_fail_open_total"
                     R"({name="first",result="error"} 1)"));

  CHECK(by_file.Answered(kUndecided, broken)
            .starts_with(kForbidden + "the authorization webhook could not be asked"));
  CHECK_FALSE(
      by_file.Counts("apiserver_authorization_webhook_evaluations_fail_open_total"
                     R"({name="second",result="error"} 1)"));
  CHECK(
      by_file.Counts("apiserver_authorization_webhook_evaluations_total"
                     R"({name="second",result="error"} 1)"));
}

TEST_CASE("server: a request that waits while the chain changes is judged by the new one alone",
          "[server]") {
  ServerByFile by_file(WebhookNamed("first", "NoOpinion") +
                       "- {type: AlwaysAllow, name: alwaysallow}\n");
  Thread caller = by_file.Call();
  REQUIRE(by_file.webhooks["first"]->WaitForWaiting(1));
  by_file.Settle();
  by_file.Write("- {type: AlwaysAllow, name: alwaysallow}\n" + WebhookNamed("second", "Nothing"));
  CHECK_FALSE(by_file.file->Check().ok());
  by_file.Write(WebhookNamed("second", "Deny") + "- {type: AlwaysAllow, name: alwaysallow}\n");
  REQUIRE(by_file.file->Check().ok());
  by_file.webhooks["first"]->Answer(kUndecided);
  REQUIRE(by_file.webhooks["second"]->WaitForWaiting(1));
  by_file.webhooks["second"]->Answer(kDenied);
  caller.Join();
  CHECK(by_file.Said().starts_with(kForbidden + "not jane"));
  CHECK(by_file.webhooks["first"]->requests().size() == 1);
}

}  // namespace apiserver::inline v0::server
