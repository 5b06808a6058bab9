// How a server goes: the phases, and what requests see of them.
// k8s.io/apiserver/pkg/server/genericapiserver_graceful_termination_test.go
#include <catch2/catch.hpp>

#include <algorithm>
#include <atomic>
#include <string>
#include <vector>

#include "apiserver/server/standalone.h"
#include "filter_fixture.h"
#include "widget_server.h"

using apiserver::Context;
using apiserver::Guarded;
using apiserver::Notification;
using apiserver::Reason;
using apiserver::Status;
using apiserver::testing::Contains;
namespace http = apiserver::http;
namespace server = apiserver::server;

namespace {

constexpr auto kShutdownPatience = std::chrono::seconds(60);

// The phases as the log tells them.
class PhaseLog final : public apiserver::LogSink {
 public:
  bool Enabled(apiserver::LogLevel) const override { return true; }
  void Write(apiserver::LogLevel, std::string_view message,
             std::span<const apiserver::LogField> fields) override {
    if (message != "lifecycle") return;
    phases_.Lock()->push_back(fields[0].value);
    phases_.NotifyAll();
  }
  bool Await(const std::string& phase) {
    auto phases = phases_.Lock();
    return phases.WaitUntil(apiserver::RealClock().Now() + kShutdownPatience, [&] {
      return std::find(phases->begin(), phases->end(), phase) != phases->end();
    });
  }
  std::vector<std::string> phases() { return *phases_.Lock(); }

 private:
  Guarded<std::vector<std::string>> phases_;
};

// A server on a free port with a slow path, "/slow", that answers when it may.
class SlowServer {
 public:
  explicit SlowServer(const std::function<void(server::Config&)>& change = nullptr) {
    standalone_ = server::NewStandalone({}).value();
    server::Config config;
    standalone_.Apply(config);
    config.log = &log;
    config.shutdown_grace = kShutdownPatience;
    if (change) change(config);
    api = std::move(*std::move(config).Complete()).New().value();
    const auto slow = [this](http::Exchange& exchange) {
      entered.Notify();
      return http::Step::OnPool([this, &exchange] {
        go_on.Wait();
        exchange.writer().Send({}, "slow");
        return http::Step::Done();
      });
    };
    REQUIRE(api->HandlePath("/slow", slow, /*listed=*/true).ok());
    const auto fast = [](http::Exchange& exchange) {
      exchange.writer().Send({}, "fast");
      return http::Step::Done();
    };
    REQUIRE(api->HandlePath("/fast", fast, /*listed=*/true).ok());
  }
  ~SlowServer() { go_on.Notify(); }

  void Start() {
    REQUIRE(api->PrepareRun().ok());
    REQUIRE(api->Start().ok());
  }
  void StopSoon() {
    stopping_ = apiserver::Thread("stop", [this] { api->Stop(); });
  }
  void AwaitStopped() { stopping_.Join(); }

  std::unique_ptr<http::Connection> Dial(bool http2 = true) { return TryDial(http2).value(); }
  apiserver::Result<std::unique_ptr<http::Connection>> TryDial(bool http2 = true) {
    return dialer_->Dial(
        Context::Background(),
        {.port = api->port(),
         .tls = http::ClientTls{.ca_pem = standalone_.ca_pem, .client = standalone_.admin},
         .http2 = http2});
  }
  static apiserver::Result<http::ClientResponse> Get(http::Connection& connection,
                                                     const std::string& target) {
    return connection.Call(
        Context::Child(Context::Background(), apiserver::RealClock().Now() + kShutdownPatience),
        {.target = target});
  }

  PhaseLog log;
  Notification entered;
  Notification go_on;
  std::unique_ptr<server::GenericAPIServer> api;

 private:
  server::Standalone standalone_;
  std::unique_ptr<http::Dialer> dialer_ = http::NewDialer();
  apiserver::Thread stopping_;
};

}  // namespace

// TestGracefulTerminationWithKeepListeningDuringGracefulTerminationDisabled
TEST_CASE("server: a server that stops closes connections first, and answers what it has taken",
          "[server][slow]") {
  SlowServer slow([](server::Config& config) { config.shutdown_delay = std::chrono::seconds(3); });
  Notification hook_may_end;
  REQUIRE(slow.api
              ->AddPreShutdownHook("hook",
                                   [&hook_may_end](const auto&) -> Status {
                                     hook_may_end.Wait();
                                     return {};
                                   })
              .ok());
  slow.Start();
  const auto connection = slow.Dial();
  CHECK(slow.Get(*connection, "/readyz")->code == 200);
  const auto pending = connection->Open({.target = "/slow"}).value();
  slow.entered.Wait();

  slow.StopSoon();
  REQUIRE(slow.log.Await("ShutdownInitiated"));
  // Everything is served while load balancers notice.
  CHECK(slow.Get(*connection, "/fast")->body == "fast");
  CHECK(slow.Get(*slow.Dial(), "/fast")->body == "fast");
  const auto ready = slow.Get(*connection, "/readyz");
  CHECK(ready->code == 500);
  CHECK(Contains(ready->body, "[-]shutdown failed: reason withheld\n"));
  CHECK(slow.Get(*connection, "/livez")->code == 200);
  REQUIRE(slow.log.Await("AfterShutdownDelayDuration"));
  CHECK(slow.Get(*connection, "/fast")->body == "fast");  // The hook still runs.
  hook_may_end.Notify();
  REQUIRE(slow.log.Await("NotAcceptingNewRequest"));
  slow.go_on.Notify();
  const auto body = pending->Read(Context::Background());
  slow.AwaitStopped();

  REQUIRE(body.ok());
  CHECK(*body == "slow");
  CHECK(connection->closed());
  CHECK_FALSE(slow.TryDial().ok());
  CHECK(slow.log.phases() ==
        std::vector<std::string>{"MuxAndDiscoveryComplete", "HasBeenReady", "ShutdownInitiated",
                                 "AfterShutdownDelayDuration", "PreShutdownHooksStopped",
                                 "NotAcceptingNewRequest", "InFlightRequestsDrained",
                                 "HTTPServerStoppedListening"});
}

// TestGracefulTerminationWithKeepListeningDuringGracefulTerminationEnabled
TEST_CASE("server: with retry-after it listens until what it has taken is answered", "[server]") {
  SlowServer slow([](server::Config& config) { config.shutdown_send_retry_after = true; });
  slow.Start();
  const auto connection = slow.Dial();
  const auto pending = connection->Open({.target = "/slow"}).value();
  slow.entered.Wait();

  slow.StopSoon();
  REQUIRE(slow.log.Await("NotAcceptingNewRequest"));
  const auto other = slow.Dial();
  const auto refused = slow.Get(*other, "/fast");
  const auto probe = slow.Get(*slow.Dial(), "/livez");
  slow.go_on.Notify();
  const auto body = pending->Read(Context::Background());
  slow.AwaitStopped();

  REQUIRE(refused.ok());
  CHECK(refused->code == 429);
  CHECK(refused->headers.Get("Retry-After") == "5");
  CHECK(other->closed());
  CHECK(probe->code == 200);
  CHECK(body.value() == "slow");
  CHECK_FALSE(slow.TryDial().ok());
  const auto phases = slow.log.phases();
  CHECK(phases.back() == "HTTPServerStoppedListening");
}

TEST_CASE("server: a request on a connection that is idle when the server stops is answered",
          "[server]") {
  const bool http2 = GENERATE(true, false);
  INFO("http2: " << http2);
  SlowServer slow;
  slow.Start();
  const auto idle = slow.Dial(http2);
  REQUIRE(slow.Get(*idle, "/fast")->code == 200);
  const auto busy = slow.Dial();
  const auto pending = busy->Open({.target = "/slow"}).value();
  slow.entered.Wait();

  slow.StopSoon();
  REQUIRE(slow.log.Await("NotAcceptingNewRequest"));
  // It was sent before the client could know; if the client knows by now, it does not send.
  std::string answer = "sent elsewhere";
  if (!idle->closed()) {
    const auto got = slow.Get(*idle, "/fast");
    if (got.ok()) answer = got->body;
    if (!got.ok() && !idle->closed()) answer = got.status().ToString();
  }
  slow.go_on.Notify();
  CHECK(pending->Read(Context::Background()).value() == "slow");
  slow.AwaitStopped();

  CHECK((answer == "fast" || answer == "sent elsewhere"));
}

// TestMuxAndDiscoveryComplete, TestPreShutdownHooks
TEST_CASE("server: a pre-shutdown hook that fails does not keep the server", "[server]") {
  SlowServer slow;
  std::atomic<bool> served = false;
  REQUIRE(slow.api
              ->AddPreShutdownHook("asks",
                                   [&served](const server::HookContext& context) -> Status {
                                     served = context.server.LoopbackConnection()
                                                  ->Call(Context::Background(), {.target = "/fast"})
                                                  ->code == 200;
                                     return {Reason::kInternalError, "no luck"};
                                   })
              .ok());
  slow.Start();

  slow.api->Stop();

  CHECK(served);
  CHECK(slow.log.phases().back() == "HTTPServerStoppedListening");
}
