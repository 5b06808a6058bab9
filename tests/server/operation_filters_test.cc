// The filters of operations: CORS, HSTS, GOAWAY, and what a server that stops answers.
#include <catch2/catch.hpp>

#include "apiserver/http/listener.h"
#include "filter_fixture.h"
#include "widget_server.h"

using apiserver::Context;
using apiserver::http::Headers;
using apiserver::server::InFlight;
using apiserver::server::LifecycleSignals;
using apiserver::testing::ChainOf;
using apiserver::testing::Contains;
using apiserver::testing::FilterFixture;
namespace server = apiserver::server;

namespace {

struct CorsCase {
  std::string name;
  std::vector<std::string> patterns;
  std::vector<std::string> origins;
  bool allowed;
};

// Always the same number.
class Constant final : public apiserver::Random {
 public:
  explicit Constant(unsigned char byte) : byte_(byte) {}
  void Fill(std::span<std::byte> out) override {
    for (std::byte& b : out) b = std::byte{byte_};
  }

 private:
  unsigned char byte_;
};

}  // namespace

// TestCORSAllowedOrigins
TEST_CASE("server: CORS answers origins that an expression matches", "[server]") {
  const auto test = GENERATE(values<CorsCase>({
      {"origin request header not set", {"example.com"}, {""}, false},
      {"allowed regexp is a match", {"example.com"}, {"http://example.com", "example.com"}, true},
      {"allowed regexp is not a match",
       {"example.com"},
       {"http://not-allowed.com", "not-allowed.com"},
       false},
      {"allowed list with multiple regex",
       {"not-matching.com", "example.com"},
       {"http://example.com", "example.com"},
       true},
      {"wildcard matching", {".*"}, {"http://example.com", "example.com"}, true},
      {"regex does not pin, CVE-2022-1996 is not prevented",
       {"example.com"},
       {"http://example.com.hacker.org", "http://example.com.hacker.org:8080"},
       true},
      {"regex pins to start/end of the host name, CVE-2022-1996 is prevented",
       {"//example.com(:|$)"},
       {"http://example.com.hacker.org", "http://example.com.hacker.org:8080"},
       false},
      {"regex pins, with and without port",
       {"//example.com(:|$)"},
       {"http://example.com", "https://example.com:8080"},
       true},
  }));
  INFO(test.name);
  FilterFixture filters(ChainOf(server::NewCors(test.patterns)));
  int calls = 0;
  for (const std::string& origin : test.origins) {
    INFO(origin);
    const auto answer = filters.Call("GET", "/version", {{"Origin", origin}});

    CHECK(filters.handled() == ++calls);
    CHECK(answer.headers.Get("Access-Control-Allow-Origin") == (test.allowed ? origin : ""));
    CHECK(answer.headers.Get("Access-Control-Allow-Credentials") == (test.allowed ? "true" : ""));
    CHECK(answer.headers.Get("Access-Control-Expose-Headers") == (test.allowed ? "Date" : ""));
    CHECK(answer.headers.Get("Access-Control-Allow-Headers") ==
          (test.allowed ? "Content-Type, Content-Length, Accept-Encoding, X-CSRF-Token, "
                          "Authorization, X-Requested-With, If-Modified-Since"
                        : ""));
    // TestCORSAllowedMethods
    CHECK(answer.headers.Get("Access-Control-Allow-Methods") ==
          (test.allowed ? "POST, GET, OPTIONS, PUT, DELETE, PATCH" : ""));
  }
}

TEST_CASE("server: CORS answers a preflight request itself", "[server]") {
  FilterFixture filters(ChainOf(server::NewCors({"//example.com(:|$)"})));

  const auto allowed = filters.Call("OPTIONS", "/version", {{"Origin", "http://example.com"}});
  const auto other = filters.Call("OPTIONS", "/version", {{"Origin", "http://example.org"}});

  CHECK(allowed.code == 204);
  CHECK(allowed.headers.Get("Access-Control-Allow-Origin") == "http://example.com");
  CHECK(other.code == 200);
  CHECK(filters.handled() == 1);
}

TEST_CASE("server: HSTS is on every answer that has none", "[server]") {
  FilterFixture filters(ChainOf(server::NewHsts({"max-age=31536000", "includeSubDomains"})));
  const auto plain = filters.Call("GET", "/x");
  filters.handler = [](apiserver::http::Exchange& exchange) {
    exchange.writer().Send({.headers = {{"Strict-Transport-Security", "max-age=1"}}}, "");
    return apiserver::http::Step::Done();
  };
  const auto own = filters.Call("GET", "/x");

  CHECK(plain.headers.Get("Strict-Transport-Security") == "max-age=31536000; includeSubDomains");
  CHECK(own.headers.GetAll("Strict-Transport-Security") ==
        std::vector<std::string_view>{"max-age=1"});
}

// TestProbabilisticGoawayDecider, TestHTTPH2GoAway, TestHTTP1Requests
TEST_CASE("server: GOAWAY comes with the chance that was set, over HTTP/2 only", "[server]") {
  struct Case {
    double chance;
    unsigned char drawn;  // Of 256.
    bool http2;
    bool closes;
  };
  const auto test =
      GENERATE(values<Case>({{.chance = 0, .drawn = 0, .http2 = true, .closes = false},
                             {.chance = 1, .drawn = 255, .http2 = true, .closes = true},
                             {.chance = 1, .drawn = 0, .http2 = false, .closes = false},
                             {.chance = 0.02, .drawn = 0, .http2 = true, .closes = true},
                             {.chance = 0.02, .drawn = 6, .http2 = true, .closes = false}}));
  INFO(test.chance << " " << int{test.drawn} << " " << test.http2);
  Constant random(test.drawn);
  FilterFixture filters(ChainOf(server::NewGoaway(test.chance, random)));
  const auto listener = apiserver::http::Listen({}, filters.service()).value();
  const auto dialer = apiserver::http::NewDialer();
  const auto connection =
      dialer->Dial(Context::Background(), {.port = listener->port(), .http2 = test.http2}).value();

  const auto answer = connection->Call(Context::Background(), {.target = "/x"}).value();

  // What is sent with the answer may be read a moment after it.
  const auto until = apiserver::RealClock().Now() + std::chrono::seconds(60);
  while (test.closes && !connection->closed() && apiserver::RealClock().Now() < until) {
  }
  CHECK(answer.code == 200);
  CHECK(connection->closed() == test.closes);
}

// TestWithRetryAfter
TEST_CASE("server: while it stops, new requests are told to retry; probes are not", "[server]") {
  struct Case {
    std::string name;
    bool stopping;
    std::string target;
    std::string user_agent;
    bool in_flight_closed;
    bool refused;
  };
  const auto test = GENERATE(values<Case>({
      {"retry-after disabled", false, "/api/v1/namespaces", "foo", false, false},
      {"request is not exempt", true, "/api/v1/namespaces", "foo", false, true},
      {"request is exempt(/metrics)", true, "/metrics?foo=bar", "foo", false, false},
      {"request is exempt(/livez)", true, "/livez?verbose", "foo", false, false},
      {"request is exempt(/readyz)", true, "/readyz?verbose", "foo", false, false},
      {"request is exempt(/healthz)", true, "/healthz?verbose", "foo", false, false},
      {"request is exempt(local loopback)", true, "/api/v1/namespaces", "kube-apiserver/", false,
       false},
      {"request is exempt(/readyz), SafeWaitGroup is in waiting mode", true, "/readyz?verbose",
       "foo", true, false},
  }));
  INFO(test.name);
  LifecycleSignals signals(apiserver::NullLogSink());
  InFlight in_flight;
  if (test.stopping) signals.not_accepting_new_request.Signal();
  if (test.in_flight_closed) in_flight.Close();
  FilterFixture filters(ChainOf(server::NewRequestInfo(),
                                server::NewRetryAfter(signals.not_accepting_new_request),
                                server::NewInFlight(in_flight)));

  const auto answer = filters.Call("GET", test.target, {{"User-Agent", test.user_agent}});

  CHECK(filters.handled() == (test.refused ? 0 : 1));
  CHECK(answer.code == (test.refused ? 429 : 200));
  CHECK(answer.headers.Get("Retry-After") == (test.refused ? "5" : ""));
  if (test.refused) {
    CHECK(answer.body == "The apiserver is shutting down, please try again later.\n");
  }
}

// TestWithWatchTerminationDuringShutdown, and WithWaitGroup
TEST_CASE("server: requests that come too late are refused with a short retry", "[server]") {
  struct Case {
    std::string name;
    std::string target;
    bool ends_watches;
    bool closes;
    bool refused;
  };
  const auto test = GENERATE(values<Case>({
      {"request is not a WATCH, not added into wait group", "/api/v1/pods/a", true, false, false},
      {"request is a WATCH, wait group is in waiting mode", "/api/v1/pods?watch=1", true, false,
       true},
      {"request is a WATCH, wait group is accepting", "/api/v1/pods?watch=1", false, false, false},
      {"request is not a WATCH, wait group is in waiting mode", "/api/v1/pods", true, true, true},
  }));
  INFO(test.name);
  InFlight in_flight;
  if (test.ends_watches) in_flight.EndLongRunning(std::chrono::milliseconds(0));
  if (test.closes) in_flight.Close();
  FilterFixture filters(ChainOf(server::NewRequestInfo(), server::NewInFlight(in_flight)));

  const auto answer = filters.Call("GET", test.target);

  CHECK(answer.code == (test.refused ? 503 : 200));
  CHECK(answer.headers.Get("Retry-After") == (test.refused ? "1" : ""));
  CHECK(answer.body == (test.refused ? "apiserver is shutting down" : "handled"));
  CHECK(in_flight.WaitUntilEmpty(std::chrono::seconds(60)));
}

TEST_CASE("server: watches are ended over the grace, but not slower than 200 a second",
          "[server]") {
  CHECK(InFlight::EndsPerSecond(10, std::chrono::seconds(10)) == 200);
  CHECK(InFlight::EndsPerSecond(2'000, std::chrono::seconds(10)) == 200);
  CHECK(InFlight::EndsPerSecond(6'000, std::chrono::seconds(10)) == 600);

  InFlight in_flight;
  std::vector<Context> watches;
  for (int i = 0; i < 40; ++i) {
    watches.push_back(Context::Child(Context::Background()));
    REQUIRE(in_flight.Enter(watches.back(), InFlight::Kind::kLong) != 0);
  }
  const auto before = apiserver::RealClock().Now();
  in_flight.EndLongRunning(std::chrono::seconds(60));
  const auto took = apiserver::RealClock().Now() - before;

  for (const Context& watch : watches) CHECK(watch.done());
  // 40 at 200 a second, in steps of two.
  CHECK(took >= std::chrono::milliseconds(180));
  CHECK(took < std::chrono::seconds(60));  // Not after the grace.
}

TEST_CASE("server: a path that is not there yet is no 404", "[server]") {
  apiserver::server::Config config;
  config.authenticator = std::make_shared<const apiserver::testing::Anybody>();
  auto api = std::move(*std::move(config).Complete()).New().value();
  int early = 0;
  REQUIRE(api->AddPostStartHook("ask",
                                [&early](const server::HookContext& context) -> apiserver::Status {
                                  const auto answer = context.server.LoopbackConnection()->Call(
                                      Context::Background(), {.target = "/apis/later.example.com"});
                                  if (!answer.ok()) return answer.status();
                                  early = answer->code;
                                  return {};
                                })
              .ok());
  REQUIRE(api->PrepareRun().ok());
  REQUIRE(api->Start().ok());

  const auto late = api->LoopbackConnection()
                        ->Call(Context::Background(), {.target = "/apis/later.example.com"})
                        .value();

  CHECK(early == 503);
  CHECK(late.code == 404);
}

TEST_CASE("server: settings of operations that cannot work name flag and remedy", "[server]") {
  struct Case {
    std::string expected;
    std::function<void(server::Config&)> change;
  };
  const auto test = GENERATE(values<Case>({
      // TestServerRunOptionsValidate
      {"--goaway-chance cannot be less than 0 or greater than 0.02",
       [](server::Config& c) { c.goaway_chance = 0.021; }},
      {"--goaway-chance cannot be less than 0 or greater than 0.02",
       [](server::Config& c) { c.goaway_chance = -0.1; }},
      {"--shutdown-delay-duration cannot be a negative value",
       [](server::Config& c) { c.shutdown_delay = -std::chrono::milliseconds(1); }},
      {"--livez-grace-period cannot be a negative value",
       [](server::Config& c) { c.livez_grace = -std::chrono::milliseconds(1); }},
      {"--shutdown-watch-termination-grace-period cannot be a negative value",
       [](server::Config& c) {
         c.shutdown_watch_termination_grace = -std::chrono::milliseconds(1);
       }},
      {"--strict-transport-security-directives cannot be \"\"",
       [](server::Config& c) { c.hsts_directives = {""}; }},
      {"--strict-transport-security-directives cannot be \"fakeDirective\"",
       [](server::Config& c) { c.hsts_directives = {"fakeDirective"}; }},
      // TestValidateCorsAllowedOriginList
      {"--cors-allowed-origins has an empty value",
       [](server::Config& c) { c.cors_allowed_origins = {""}; }},
      {"does not pin to start/end of host",
       [](server::Config& c) { c.cors_allowed_origins = {"example.com"}; }},
      {"does not pin to start/end of host",
       [](server::Config& c) { c.cors_allowed_origins = {"//example.com"}; }},
      {"has an invalid regular expression \"^(//example.com$\"",
       [](server::Config& c) { c.cors_allowed_origins = {"^(//example.com$"}; }},
  }));
  server::Config config;
  config.authenticator = std::make_shared<const apiserver::testing::Anybody>();
  test.change(config);

  const auto status = std::move(config).Complete().status();

  CHECK(status.reason() == apiserver::Reason::kInvalid);
  CHECK(Contains(std::string(status.message()), test.expected));
}
