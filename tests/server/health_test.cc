// healthz, livez, readyz.
#include <catch2/catch.hpp>

#include "apiserver/server/standalone.h"
#include "apiserver/testing/server/fake_clock.h"
#include "filter_fixture.h"
#include "server/health.h"
#include "widget_server.h"

using apiserver::Reason;
using apiserver::Status;
using apiserver::server::Health;
using apiserver::testing::Contains;
using apiserver::testing::FilterFixture;
using apiserver::testing::StartWidgetServer;

namespace {

struct Failing {
  Status operator()() const { return {Reason::kInternalError, "this will fail"}; }
};

}  // namespace

// TestMultipleChecks, TestMultiplePathChecks
TEST_CASE("server: health answers as upstream does, by check, verbosely, with exclusions",
          "[server]") {
  struct Case {
    std::string path;
    std::string expected;
    int code;
    bool bad;
  };
  const std::string name = GENERATE("healthz", "ready");
  const auto test = GENERATE(values<Case>({
      {"?verbose", "[+]ping ok\n$ check passed\n", 200, false},
      {"?exclude=dontexist", "ok", 200, false},
      {"?exclude=bad", "ok", 200, true},
      {"?verbose=true&exclude=bad", "[+]ping ok\n[+]bad excluded: ok\n$ check passed\n", 200, true},
      {"?verbose=true&exclude=dontexist",
       "[+]ping ok\nwarn: some health checks cannot be excluded: no matches for \"dontexist\"\n$ "
       "check passed\n",
       200, false},
      {"/ping", "ok", 200, false},
      {"", "ok", 200, false},
      {"?verbose", "[+]ping ok\n[-]bad failed: reason withheld\n$ check failed\n", 500, true},
      {"/ping", "ok", 200, true},
      {"/bad", "internal server error: this will fail\n", 500, true},
      {"", "[+]ping ok\n[-]bad failed: reason withheld\n$ check failed\n", 500, true},
      // TestGetExcludedChecks, TestFormatQuoted; in Go the names are a set too.
      {"?verbose&exclude=n2&exclude=n1&exclude=n2",
       "[+]ping ok\nwarn: some health checks cannot be excluded: no matches for \"n1\",\"n2\"\n$ "
       "check passed\n",
       200, false},
  }));
  INFO(name << test.path);
  Health health(name, apiserver::NullLogSink());
  if (test.bad) REQUIRE(health.Add("bad", Failing()).ok());
  FilterFixture server({});
  server.handler = [&health](apiserver::http::Exchange& exchange) {
    return *health.Serve(exchange);
  };
  std::string expected = test.expected;
  if (const auto at = expected.find('$'); at != std::string::npos) expected.replace(at, 1, name);

  const auto answer = server.Call("GET", "/" + name + test.path);

  CHECK(answer.code == test.code);
  CHECK(answer.body == expected);
  CHECK(answer.headers.Get("Content-Type") == "text/plain; charset=utf-8");
  CHECK(answer.headers.Get("X-Content-Type-Options") == "nosniff");
}

// TestGroupedHealthCheck of healthz_test.go (groups of checks)
TEST_CASE("server: checks of a group are excluded together", "[server]") {
  Health health("livez", apiserver::NullLogSink());
  REQUIRE(health.Add("kms-0", Failing(), "kms").ok());
  REQUIRE(health.Add("kms-1", Failing(), "kms").ok());
  FilterFixture server({});
  server.handler = [&health](apiserver::http::Exchange& exchange) {
    return *health.Serve(exchange);
  };

  CHECK(server.Call("GET", "/livez").code == 500);
  CHECK(server.Call("GET", "/livez?exclude=kms-0").code == 500);
  CHECK(server.Call("GET", "/livez?verbose&exclude=kms").body ==
        "[+]ping ok\n[+]kms-0 excluded with kms: ok\n[+]kms-1 excluded with kms: ok\nlivez check "
        "passed\n");
}

TEST_CASE("server: a check that throws has failed", "[server]") {
  Health health("healthz", apiserver::NullLogSink());
  REQUIRE(health.Add("thrower", []() -> Status { throw std::runtime_error("a bug"); }).ok());
  FilterFixture server({});
  server.handler = [&health](apiserver::http::Exchange& exchange) {
    return *health.Serve(exchange);
  };

  CHECK(server.Call("GET", "/healthz/thrower").body == "internal server error: exception: a bug\n");
  CHECK_FALSE(health.Passes());
}

// TestDelayedHealthCheck of server/healthz_test.go
TEST_CASE("server: livez waits for slow post-start hooks until its grace is over", "[server]") {
  apiserver::testing::FakeClock clock;
  apiserver::server::Config config;
  config.authenticator = std::make_shared<const apiserver::testing::Anybody>();
  config.clock = &clock;
  config.livez_grace = std::chrono::seconds(30);
  auto api = std::move(*std::move(config).Complete()).New().value();
  apiserver::Notification go_on;
  REQUIRE(api->AddPostStartHook("slow",
                                [&go_on](const auto&) -> Status {
                                  go_on.Wait();
                                  return {};
                                })
              .ok());
  REQUIRE(api->PrepareRun().ok());
  const auto connection = api->LoopbackConnection();
  const auto code = [&connection](const char* target) {
    return connection->Call(apiserver::Context::Background(), {.target = target})->code;
  };
  apiserver::Thread starting("start", [&api] { (void)api->Start(); });

  CHECK(code("/livez") == 200);
  CHECK(code("/readyz") == 500);
  CHECK(code("/livez/poststarthook/slow") == 200);
  clock.Advance(std::chrono::seconds(31));
  CHECK(code("/livez") == 500);
  go_on.Notify();
  starting.Join();
  CHECK(code("/livez") == 200);
  CHECK(code("/readyz") == 200);
}

TEST_CASE("server: /metrics/slis tells how health checks went", "[server]") {
  std::atomic<bool> well = true;
  const auto server =
      StartWidgetServer({.install = [&well](apiserver::server::GenericAPIServer& api) {
        return api.AddHealthCheck({.name = "mine", .check = [&well]() -> Status {
                                     if (well) return {};
                                     return {apiserver::Reason::kInternalError, "unwell"};
                                   }});
      }});
  REQUIRE(server->Call("GET", "/livez").code == 200);
  REQUIRE(server->Call("GET", "/livez?exclude=mine").code == 200);
  well = false;
  REQUIRE(server->Call("GET", "/livez").code == 500);

  const auto answer = server->Call("GET", "/metrics/slis");

  CHECK(answer.code == 200);
  CHECK(Contains(answer.body, "\nkubernetes_healthcheck{name=\"mine\",type=\"livez\"} 0\n"));
  CHECK(Contains(answer.body, "\nkubernetes_healthcheck{name=\"ping\",type=\"livez\"} 1\n"));
  const std::string mine = "\nkubernetes_healthchecks_total{name=\"mine\",type=\"livez\",status=";
  CHECK(Contains(answer.body, mine + "\"success\"} 1\n"));
  CHECK(Contains(answer.body, mine + "\"error\"} 1\n"));
  CHECK(server->Call("DELETE", "/metrics/slis").body == "metrics reset\n");
  CHECK(Contains(server->Call("GET", "/metrics/slis").body, mine + "\"error\"} 0\n"));
}

// IndexLister, and the order of Config.ReadyzChecks before what is added.
TEST_CASE("server: ping is the first check, and a path of no check is as any that is not there",
          "[server]") {
  const auto server = StartWidgetServer({.install = [](apiserver::server::GenericAPIServer& api) {
    return api.AddPostStartHook("mine", [](const auto&) { return Status(); });
  }});

  for (const std::string path : {"/healthz", "/livez", "/readyz"}) {
    INFO(path);
    CHECK(server->Call("GET", path + "?verbose").body.starts_with("[+]ping ok\n"));
    CHECK(server->Call("POST", path).body == "ok");
    const auto nothing = server->Call("GET", path + "/none");
    CHECK(nothing.code == 404);
    CHECK(nothing.body == server->Call("GET", "/none").body);
    CHECK(Contains(nothing.body, "\"" + path + "/poststarthook/mine\""));
    CHECK(server->Call("GET", path + "/").code == 404);
  }
}
