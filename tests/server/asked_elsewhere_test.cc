// Requests whose answer hangs on somebody else's: they wait without a thread.
#include <atomic>
#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <utility>

#include "apiserver/authn/bearer_token.h"
#include "apiserver/authn/oidc.h"
#include "apiserver/base/sync.h"
#include "apiserver/http/in_process.h"
#include "auth/cached_look_ups.h"
#include "authn/fake_http_client.h"
#include "authn/signed_tokens.h"
#include "widget_server.h"

namespace apiserver::inline v0::server {
namespace {

// Answers with the user's name, and never waits.
http::Step Name(http::Exchange& exchange) {
  exchange.writer().Send({}, std::string((*exchange.Find<auth::UserInfoPtr>())->name));
  return http::Step::Done();
}

// A server with one path, called from a thread of the test.
struct Called {
  explicit Called(Config config) {
    server = std::move(*std::move(config).Complete()).New().value();
    REQUIRE(server->HandlePath("/name", Name, /*listed=*/true).ok());
    REQUIRE(server->PrepareRun().ok());
    REQUIRE(server->Start().ok());
    connection = http::NewInProcessConnection(server->service());
  }
  void Call(http::Headers headers) {
    caller = Thread("caller", [this, headers = std::move(headers)] {
      answer = connection->Call(Context::Background(), {.target = "/name", .headers = headers});
    });
  }

  std::unique_ptr<GenericAPIServer> server;
  std::unique_ptr<http::Connection> connection;
  Result<http::ClientResponse> answer = Status(Reason::kUnknown, "");
  Thread caller;
};

// Allows what the test allows, later.
class Later final : public auth::Authorizer {
 public:
  Later()
      : answers_({.lifetime = [](const Answers::Answer&) { return std::chrono::nanoseconds(0); }}) {
  }

  Result<auth::Verdict> Authorize(const Context& ctx,
                                  const auth::Attributes& attributes) const override {
    const std::string key =
        std::string(attributes.verb) + " " + std::string(attributes.name) + attributes.user->name;
    return answers_.Get(ctx, key, [this](Answers::Done done) {
      asked_.Lock()->push_back(std::move(done));
      asked_.NotifyAll();
    });
  }
  // Waits for the next question, and allows it.
  bool AllowNext() const {
    Answers::Done done;
    {
      auto asked = asked_.Lock();
      const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(60);
      if (!asked.WaitUntil(until, [&asked] { return !asked->empty(); })) return false;
      done = std::move(asked->front());
      asked->erase(asked->begin());
    }
    done(auth::Verdict{auth::Decision::kAllow});
    return true;
  }

 private:
  using Answers = auth::CachedLookUps<auth::Verdict>;
  mutable Answers answers_;
  mutable Guarded<std::vector<Answers::Done>> asked_;
};

}  // namespace

TEST_CASE("server: a request waits for the keys of its token's issuer", "[server]") {
  const auto issuer = std::make_shared<authn::FakeHttpClient>();
  authn::JwtAuthenticator rules;
  rules.issuer = {.url = "https://issuer", .audiences = {"a"}};
  rules.claim_mappings.username = {.claim = "sub", .prefix = "oidc:"};
  const auto oidc = authn::NewOidc(
      {rules}, {.http = [&issuer](const client::HttpClientOptions&) { return issuer; }});
  REQUIRE(oidc.ok());
  Config config;
  config.authenticator = authn::NewBearerToken(*oidc);
  Called called(std::move(config));
  const std::string token =
      *authn::SignJwt(authn::P256Key(), authn::SigningAlgorithm::kEs256, "k",
                      R"({"iss":"https://issuer","aud":"a","sub":"jane","exp":99999999999})");
  called.Call({{"Authorization", "Bearer " + token}});

  REQUIRE(issuer->WaitForWaiting(1));
  issuer->Answer(http::ClientResponse{
      .code = 200, .body = R"({"issuer":"https://issuer","jwks_uri":"https://issuer/keys"})"});
  issuer->Answer(http::ClientResponse{
      .code = 200,
      .body = R"({"keys":[)" + authn::JwkText(authn::P256Key().public_key(), "k") + "]}"});
  called.caller.Join();

  REQUIRE(called.answer.ok());
  CHECK(called.answer->code == 200);
  CHECK(called.answer->body == "oidc:jane");
  CHECK(issuer->requests().size() == 2);
}

TEST_CASE("server: impersonation waits for each answer of an authorizer elsewhere", "[server]") {
  const auto later = std::make_shared<Later>();
  Config config;
  config.authenticator =
      authn::NewBearerToken(authn::NewStaticTokens({{.token = "secret", .user = {.name = "joe"}}}));
  config.authorizer = later;
  Called called(std::move(config));
  called.Call({{"Authorization", "Bearer secret"},
               {"Impersonate-User", "jane"},
               {"Impersonate-Group", "developers"}});

  // The action, the user, the group; then the request itself, as jane.
  for (int i = 0; i < 4; ++i) REQUIRE(later->AllowNext());
  called.caller.Join();

  REQUIRE(called.answer.ok());
  CHECK(called.answer->code == 200);
  CHECK(called.answer->body == "jane");
}

}  // namespace apiserver::inline v0::server
