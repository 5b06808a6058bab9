// healthz, livez, readyz.
#include <catch2/catch.hpp>

#include "apiserver/server/standalone.h"
#include "apiserver/testing/server/fake_clock.h"
#include "filter_fixture.h"
#include "latch.h"
#include "server/health.h"
#include "widget_server.h"

using apiserver::Context;
using apiserver::Notification;
using apiserver::Reason;
using apiserver::Status;
using apiserver::server::Health;
using apiserver::server::HealthProbe;
using apiserver::testing::Contains;
using apiserver::testing::FilterFixture;
using apiserver::testing::GetAlone;
using apiserver::testing::kGenerous;
using apiserver::testing::Latch;
using apiserver::testing::Meanwhile;
using apiserver::testing::StartWidgetServer;
using apiserver::testing::TestServer;

namespace {

// The timeout of a check that must not be given up.
constexpr std::chrono::minutes kPatient(10);

struct Failing {
  Status operator()(const Context&) const { return {Reason::kInternalError, "this will fail"}; }
};

// Of a check that only looks at memory.
Health::Check InMemory(std::string name, HealthProbe::Check check, std::string group = {}) {
  return {std::move(name), std::make_shared<HealthProbe>(std::move(check), HealthProbe::Options{}),
          std::move(group)};
}

// A check that stands still at a latch.
apiserver::server::HealthCheck Stuck(Latch& latch, std::chrono::milliseconds timeout = kPatient) {
  return {.name = "stuck",
          .check = [&latch](const Context& ctx) -> Status {
            if (latch.Pass() && ctx.may_block()) return {};
            return {Reason::kInternalError, "never let go, or where it must not wait"};
          },
          .timeout = timeout};
}

// A server whose connections all live on one loop.
std::unique_ptr<TestServer> StartWithChecks(std::vector<apiserver::server::HealthCheck> checks) {
  auto options = apiserver::testing::OnOneLoop();
  options.install = [&checks](apiserver::server::GenericAPIServer& api) {
    Status added;
    for (auto& check : checks) {
      if (added.ok()) added = api.AddHealthCheck(std::move(check));
    }
    return added;
  };
  return StartWidgetServer(std::move(options));
}

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
  if (test.bad) REQUIRE(health.Add(InMemory("bad", Failing())).ok());
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
  REQUIRE(health.Add(InMemory("kms-0", Failing(), "kms")).ok());
  REQUIRE(health.Add(InMemory("kms-1", Failing(), "kms")).ok());
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
  const auto thrower = [](const Context&) -> Status { throw std::runtime_error("a bug"); };
  REQUIRE(health.Add(InMemory("thrower", thrower)).ok());
  FilterFixture server({});
  server.handler = [&health](apiserver::http::Exchange& exchange) {
    return *health.Serve(exchange);
  };

  CHECK(server.Call("GET", "/healthz/thrower").body == "internal server error: exception: a bug\n");
  CHECK_FALSE(health.Passes());
}

// Row 86: whoever may ask for /livez made a loop wait.
TEST_CASE("server: a health check that waits holds neither its loop nor other checks", "[server]") {
  const std::string path = GENERATE("/livez", "/healthz/stuck");
  INFO(path);
  Latch latch;
  const auto server = StartWithChecks(
      {Stuck(latch), {.name = "quick", .check = [](const Context&) { return Status(); }}});
  Meanwhile check([&] { return GetAlone(*server, path).body; });
  REQUIRE(latch.WaitUntilEntered());

  CHECK(GetAlone(*server, apiserver::testing::kWidgets).code == 200);
  CHECK(GetAlone(*server, "/livez/quick").body == "ok");
  CHECK_FALSE(check.done());

  latch.LetGo();
  CHECK(check.Await() == "ok");
}

TEST_CASE("server: health checks of one request run side by side", "[server]") {
  // Each waits for the other to have begun.
  Notification first;
  Notification second;
  const auto meets = [](Notification& mine, Notification& other) {
    return [&mine, &other](const Context&) -> Status {
      mine.Notify();
      if (other.WaitFor(kGenerous)) return {};
      return {Reason::kInternalError, "alone"};
    };
  };
  const auto server =
      StartWithChecks({{.name = "a", .check = meets(first, second), .timeout = kPatient},
                       {.name = "b", .check = meets(second, first), .timeout = kPatient}});

  const auto answer = server->Call("GET", "/livez?verbose");
  CHECK(answer.code == 200);
  CHECK(answer.body.starts_with("[+]ping ok\n[+]log ok\n[+]a ok\n[+]b ok\n"));
}

TEST_CASE("server: a health check that does not answer in time has failed until it returns",
          "[server]") {
  Latch latch;
  const auto server = StartWithChecks({Stuck(latch, std::chrono::milliseconds(1))});

  const auto all = server->Call("GET", "/livez");
  CHECK(all.code == 500);
  CHECK(all.body.starts_with("[+]ping ok\n[+]log ok\n[-]stuck failed: reason withheld\n"));
  CHECK(all.body.ends_with("\nlivez check failed\n"));
  for (int i = 0; i < 3; ++i) {
    CHECK(server->Call("GET", "/readyz/stuck").body ==
          "internal server error: not answered within 1ms\n");
  }
  CHECK(server->Call("GET", "/livez?exclude=stuck").body == "ok");
  CHECK_FALSE(server->server().ready());
  latch.LetGo();
  CHECK(latch.passed() <= 1);  // None, if the pool took more than the millisecond to begin.
}

TEST_CASE("server: those who ask for a health check while it runs share its outcome", "[server]") {
  // Outlives the threads of the pool, which notify it.
  apiserver::Guarded<int> passed(0);
  const auto pool = apiserver::NewThreadPool({.name = "test", .threads = 2});
  Latch latch;
  const auto probe = std::make_shared<HealthProbe>(
      Stuck(latch).check, HealthProbe::Options{.pool = pool.get(), .timeout = kPatient});
  const auto count = [&passed](const Status& outcome) {
    *passed.Lock() += outcome.ok() ? 1 : 100;
    passed.NotifyAll();
  };

  probe->Ask(count);
  REQUIRE(latch.WaitUntilEntered());
  probe->Ask(count);
  probe->Ask(count);
  latch.LetGo();

  auto all = passed.Lock();
  all.Wait([&all] { return *all >= 3; });
  CHECK(*all == 3);
  CHECK(latch.passed() == 1);
}

TEST_CASE("server: a health check that is given up is told so, and run again once it has returned",
          "[server]") {
  const auto pool = apiserver::NewThreadPool({.name = "test", .threads = 2});
  std::atomic<bool> was_told = false;
  const auto check = [&was_told](const Context& ctx) -> Status {
    if (was_told) return {};
    Notification told;
    const auto registration = ctx.OnDone([&told] { told.Notify(); });
    was_told = told.WaitFor(kGenerous);
    return ctx.Err();
  };
  const auto probe = std::make_shared<HealthProbe>(
      check, HealthProbe::Options{.pool = pool.get(), .timeout = std::chrono::milliseconds(1)});
  const auto outcome = [&probe] {
    const auto told = std::make_shared<apiserver::Guarded<std::optional<Status>>>();
    probe->Ask([told](const Status& status) {
      *told->Lock() = status;
      told->NotifyAll();
    });
    auto known = told->Lock();
    known.Wait([&known] { return known->has_value(); });
    return **known;
  };

  CHECK(outcome() == Status(Reason::kTimeout, "not answered within 1ms"));
  // A machine under load may take more than the millisecond a few times more.
  const auto until = apiserver::RealClock().Now() + kGenerous;
  Status again = outcome();
  while (!again.ok() && apiserver::RealClock().Now() < until) again = outcome();
  CHECK(again.ok());
  CHECK(was_told);
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
        return api.AddHealthCheck({.name = "mine", .check = [&well](const Context&) -> Status {
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
