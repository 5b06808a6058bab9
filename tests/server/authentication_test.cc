// Who is let in, what of the credentials is left afterwards, and what is told about it.
#include <catch2/catch.hpp>

#include <atomic>
#include <chrono>
#include <thread>
#include <utility>
#include <vector>

#include "apiserver/auth/audiences.h"
#include "apiserver/authn/anonymous.h"
#include "apiserver/authn/bearer_token.h"
#include "apiserver/authn/request_header.h"
#include "apiserver/authn/token_review.h"
#include "apiserver/authn/union.h"
#include "apiserver/http/in_process.h"
#include "apiserver/server/standalone.h"
#include "authn/fake_http_client.h"
#include "server/filter_fixture.h"
#include "widget_server.h"

namespace {

namespace auth = apiserver::auth;
namespace authn = apiserver::authn;
namespace http = apiserver::http;
using apiserver::Context;
using apiserver::Reason;
using apiserver::Result;
using apiserver::Status;
using apiserver::testing::Contains;
using Answer = Result<std::optional<auth::AuthenticateResponse>>;

// Gives everyone the same answer.
class Says final : public auth::Authenticator {
 public:
  explicit Says(Answer answer) : answer_(std::move(answer)) {}
  Answer Authenticate(const Context&, const http::Request&) const override { return answer_; }

 private:
  const Answer answer_;
};

std::shared_ptr<const auth::Authenticator> Known(auth::UserInfo user,
                                                 std::vector<std::string> audiences = {}) {
  return std::make_shared<Says>(std::optional(auth::AuthenticateResponse{
      std::make_shared<const auth::UserInfo>(std::move(user)), std::move(audiences)}));
}

// Answers "/echo" with the user and the names of the headers that came that far.
http::Step Echo(http::Exchange& exchange) {
  std::string text = exchange.Get<auth::UserInfoPtr>()->name;
  for (const auto& [name, value] : exchange.request().headers) {
    if (name.starts_with("X-") || name == "Authorization" || name.starts_with("Sec-")) {
      text += " " + name + "=" + value;
    }
  }
  exchange.writer().Send({}, http::Bytes(text));
  return http::Step::Done();
}

struct Authenticated {
  explicit Authenticated(std::shared_ptr<const auth::Authenticator> who,
                         apiserver::server::Config config = {}) {
    config.authenticator = std::move(who);
    // It is about who waits for an issuer, not for a seat.
    config.flow_control.mode = apiserver::server::FlowControlConfig::Mode::kNone;
    server = std::move(*std::move(config).Complete()).New().value();
    REQUIRE(server->HandlePath("/echo", &Echo, /*listed=*/false).ok());
    REQUIRE(server->PrepareRun().ok());
    REQUIRE(server->Start().ok());
    connection = http::NewInProcessConnection(server->service());
  }

  http::ClientResponse Get(http::Headers headers = {}) const {
    return connection
        ->Call(Context::Background(), {.target = "/echo", .headers = std::move(headers)})
        .value();
  }
  // A metric's value, as shown; empty: it is not.
  std::string Metric(const std::string& series) const {
    const std::string text = server->metrics()->Serialize();
    const std::size_t at = text.find(series + " ");
    if (at == std::string::npos) return "";
    const std::size_t begin = at + series.size() + 1;
    return text.substr(begin, text.find('\n', begin) - begin);
  }

  std::unique_ptr<apiserver::server::GenericAPIServer> server;
  std::unique_ptr<http::Connection> connection;
};

}  // namespace

// TestAuthenticateRequest, TestAuthenticateRequestFailed, TestAuthenticateRequestError
TEST_CASE("server: known users pass, others and errors are 401", "[server]") {
  const Status broken(Reason::kInternalError, "it broke");

  CHECK(Authenticated(Known({.name = "jane"})).Get().body == "jane");
  CHECK(Authenticated(std::make_shared<Says>(std::nullopt)).Get().code == 401);
  const auto refused = Authenticated(std::make_shared<Says>(broken)).Get();
  CHECK(refused.code == 401);
  CHECK_FALSE(Contains(refused.body, "it broke"));
}

TEST_CASE("server: only the whole loopback token is the server's own", "[server]") {
  const std::string token = "9b8c6f0a-loopback";
  apiserver::testing::FilterFixture fixture(
      apiserver::testing::ChainOf(apiserver::server::NewAuthentication({.loopback_token = token})));
  const auto code = [&](const std::string& authorization) {
    return fixture.Call("GET", "/", {{"Authorization", authorization}}).code;
  };
  for (const std::string& wrong :
       {std::string("x"), token.substr(0, 1), token.substr(0, token.size() - 1), token + "x",
        "x" + token.substr(1), token + token}) {
    CAPTURE(wrong);
    CHECK(code("Bearer " + wrong) == 401);
  }
  CHECK(code(token) == 401);
  CHECK(code("Basic " + token) == 401);
  CHECK(fixture.handled() == 0);
  CHECK(code("Bearer " + token) == 200);
}

// TestAuthenticateRequestWithAud
TEST_CASE("server: a credential for other audiences is refused", "[server]") {
  struct Row {
    std::vector<std::string> api, response;
    int code;
  };
  for (const Row& row : std::vector<Row>{{{}, {}, 200},
                                         {{}, {"other"}, 200},
                                         {{"other"}, {}, 200},
                                         {{"other"}, {"other"}, 200},
                                         {{"some-other"}, {"other"}, 401}}) {
    apiserver::server::Config config;
    config.api_audiences = row.api;
    CHECK(Authenticated(Known({.name = "jane"}, row.response), std::move(config)).Get().code ==
          row.code);
  }
}

// TestAuthenticateRequestClearHeaders
TEST_CASE("server: nothing behind authentication sees credentials", "[server]") {
  apiserver::server::Config config;
  config.request_headers = std::make_shared<apiserver::Variable<authn::RequestHeaderNames>>(
      authn::RequestHeaderNames{.username = {"X-Custom-User"},
                                .uid = {"X-Custom-Uid"},
                                .group = {"X-Custom-Group"},
                                .extra_prefix = {"X-Custom-Extra-"}});
  const Authenticated s(Known({.name = "jane"}), std::move(config));

  const auto answer =
      s.Get({{"Authorization", "Bearer secret"},
             {"X-Remote-User", "a"},
             {"x-REMOTE-user", "b"},
             {"X-Remote-Uid", "c"},
             {"X-Remote-Group", "d"},
             {"X-Remote-Extra-Scope", "e"},
             {"x-remote-extra-", "f"},
             {"X-Custom-User", "g"},
             {"X-Custom-Uid", "h"},
             {"X-Custom-Group", "i"},
             {"X-Custom-Extra-Scope", "j"},
             {"Sec-WebSocket-Protocol", "base64url.bearer.authorization.k8s.io.dG9rZW4, dummy"},
             {"X-Remote-Users", "stays"},
             {"X-Custom", "stays"}});

  CHECK(answer.body == "jane Sec-WebSocket-Protocol=dummy X-Remote-Users=stays X-Custom=stays");
}

// TestAuthenticateMetrics, compressUsername
TEST_CASE("server: authentication is counted without names", "[server]") {
  for (const auto& [name, shown] : std::vector<std::pair<std::string, std::string>>{
           {"admin", "admin"},
           {"kubelet", "kubelet"},
           {"system:serviceaccount:kube-system:default",
            "system:serviceaccount:kube-system:default"},
           {"jane@example.com", "email_id"},
           {"email_id", "other"},
           {"system:serviceaccount:a:b", "other"}}) {
    const Authenticated s(Known({.name = name}));
    (void)s.Get();
    (void)s.Get();
    CHECK(s.Metric("authenticated_user_requests{username=\"" + shown + "\"}") == "2");
    CHECK(s.Metric("authentication_attempts{result=\"success\"}") == "2");
    CHECK(s.Metric("authentication_duration_seconds_count{result=\"success\"}") == "2");
  }
  const Authenticated nobody(std::make_shared<Says>(std::nullopt));
  (void)nobody.Get();
  CHECK(nobody.Metric("authentication_attempts{result=\"failure\"}") == "1");
  const Authenticated broken(std::make_shared<Says>(Status(Reason::kUnauthorized, "bad")));
  (void)broken.Get();
  CHECK(broken.Metric("authentication_attempts{result=\"error\"}") == "1");
  apiserver::server::Config config;
  config.api_audiences = {"api"};
  const Authenticated other(Known({.name = "jane"}, {"other"}), std::move(config));
  (void)other.Get();
  CHECK(other.Metric("authentication_attempts{result=\"error\"}") == "1");
  CHECK(other.Metric("authentication_attempts{result=\"success\"}") == "0");
}

TEST_CASE("server: an extra space before a token is warned of, whoever asks", "[server]") {
  const http::Headers spaced{{"Authorization", "Bearer  token"}};
  const auto refused = Authenticated(std::make_shared<Says>(std::nullopt)).Get(spaced);
  const auto anonymous = Authenticated(authn::NewAnonymous()).Get(spaced);

  CHECK(refused.code == 401);
  CHECK(Contains(std::string(refused.headers.Get("Warning")), "contains extra space"));
  CHECK(anonymous.code == 200);
  CHECK(Contains(std::string(anonymous.headers.Get("Warning")), "contains extra space"));
}

// TestUnauthenticatedHTTP2ClientConnectionClose
TEST_CASE("server: over HTTP/2 who is nobody must connect again", "[server]") {
  struct Row {
    std::shared_ptr<const auth::Authenticator> who;
    bool closed;
  };
  const std::vector<Row> rows{
      {Known({.name = "panda"}), false},
      {std::make_shared<Says>(Status(Reason::kUnauthorized, "bad")), true},
      {authn::NewAnonymous(), true},
      {Known({.name = "bear", .uid = "", .groups = {"system:unauthenticated"}}), true}};
  for (const bool mitigated : {true, false}) {
    for (const Row& row : rows) {
      apiserver::server::Config config;
      config.serving = apiserver::server::NewStandalone({})->serving;
      REQUIRE(config.features
                  .Set(mitigated ? "UnauthenticatedHTTP2DOSMitigation=true"
                                 : "UnauthenticatedHTTP2DOSMitigation=false")
                  .ok());
      const Authenticated s(row.who, std::move(config));
      const auto dialer = http::NewDialer();
      const auto dial = [&](bool http2) {
        return dialer
            ->Dial(Context::Background(),
                   {.port = s.server->port(), .tls = http::ClientTls{}, .http2 = http2})
            .value();
      };
      const auto http2 = dial(true);
      const auto http1 = dial(false);
      (void)http2->Call(Context::Background(), {.target = "/echo"});
      (void)http1->Call(Context::Background(), {.target = "/echo"});
      CHECK(http2->closed() == (row.closed && mitigated));
      CHECK_FALSE(http1->closed());
    }
  }
}

namespace {

// Bearer tokens that a cluster knows, asked for through `client`.
std::shared_ptr<const auth::Authenticator> Delegating(
    const std::shared_ptr<authn::FakeHttpClient>& client, std::size_t in_flight_max = 1000) {
  std::shared_ptr<const auth::TokenAuthenticator> tokens =
      authn::NewTokenReview(
          {.client = client, .url = "https://cluster", .in_flight_max = in_flight_max})
          .value();
  return authn::NewUnionFailOnError(
      {authn::NewGroupAdder(authn::NewUnion({authn::NewBearerToken(tokens)})),
       authn::NewAnonymous()});
}

// One request that is answered whenever it is.
class Pending final : public http::StreamObserver {
 public:
  void OnHead(const http::ResponseHead& head) override { code = head.code; }
  void OnData(std::string_view bytes) override { body += bytes; }
  void OnEnd(const Status&) override { ended.Notify(); }

  int code = 0;
  std::string body;
  apiserver::Notification ended;
};

std::shared_ptr<Pending> Send(const Authenticated& s, const std::string& token) {
  auto pending = std::make_shared<Pending>();
  const auto sent = s.connection->Observe(
      {.target = "/echo", .headers = {{"Authorization", "Bearer " + token}}}, pending);
  REQUIRE(sent.ok());
  return pending;
}

const std::string kJane = R"({"authenticated":true,"user":{"username":"jane"}})";

}  // namespace

TEST_CASE("server: two hundred requests with one token make one token review", "[server]") {
  const auto client = std::make_shared<authn::FakeHttpClient>();
  const Authenticated s(Delegating(client));
  std::vector<std::shared_ptr<Pending>> all;
  for (int i = 0; i < 200; ++i) all.push_back(Send(s, "one"));
  REQUIRE(client->WaitForWaiting(1));
  // A request that is answered came behind all of them on the same loop.
  REQUIRE(s.Get().body == "system:anonymous");

  client->Answer(authn::Review(kJane));

  for (const auto& one : all) {
    REQUIRE(one->ended.WaitFor(std::chrono::seconds(60)));
    CHECK(one->code == 200);
    CHECK(one->body == "jane");
  }
  CHECK(client->requests().size() == 1);
}

TEST_CASE("server: tokens under review hold no thread, and nobody else waits", "[server]") {
  const auto client = std::make_shared<authn::FakeHttpClient>();
  apiserver::server::Config config;
  config.pool_threads = 2;
  const Authenticated s(Delegating(client), std::move(config));
  std::vector<std::shared_ptr<Pending>> all;
  for (int i = 0; i < 500; ++i) all.push_back(Send(s, "token" + std::to_string(i)));
  REQUIRE(client->WaitForWaiting(500));

  for (int i = 0; i < 20; ++i) CHECK(s.Get().body == "system:anonymous");
  // Both threads of the pool are free: each piece of work waits for the other to begin.
  apiserver::Notification begun[2];
  apiserver::Notification over[2];
  for (int i = 0; i < 2; ++i) {
    s.server->pool().Post([&, i] {
      begun[i].Notify();
      (void)begun[1 - i].WaitFor(std::chrono::seconds(60));
      over[i].Notify();
    });
  }
  CHECK(over[0].WaitFor(std::chrono::seconds(50)));
  CHECK(over[1].WaitFor(std::chrono::seconds(50)));
  for (const auto& one : all) CHECK_FALSE(one->ended.HasBeenNotified());

  for (int i = 0; i < 500; ++i) client->Answer(authn::Review(kJane));
  for (const auto& one : all) {
    REQUIRE(one->ended.WaitFor(std::chrono::seconds(60)));
    CHECK(one->code == 200);
  }
}

TEST_CASE("server: too many tokens under review are answered 429, a failed review 401",
          "[server]") {
  const auto client = std::make_shared<authn::FakeHttpClient>();
  const Authenticated s(Delegating(client, /*in_flight_max=*/1));
  const auto first = Send(s, "first");
  REQUIRE(client->WaitForWaiting(1));

  const auto second = s.Get({{"Authorization", "Bearer second"}});
  CHECK(second.code == 429);
  CHECK(second.headers.Get("Retry-After") == "1");
  client->Answer(Status(Reason::kServiceUnavailable, "the cluster is away"));

  REQUIRE(first->ended.WaitFor(std::chrono::seconds(60)));
  CHECK(first->code == 401);
}
