// Tests of the reports that a server makes of its long jobs: base/progress.h.
#include "apiserver/base/progress.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "apiserver/base/sync.h"
#include "widget_server.h"

namespace apiserver::inline v0::testing {

namespace {

using server::Config;

// Keeps the reports about drains.
class DrainReports final : public ProgressSink {
 public:
  void Report(const Progress& progress) override {
    if (progress.what != "drain") return;
    all_.Lock()->push_back(progress);
    all_.NotifyAll();
  }
  std::vector<Progress> all() const { return *all_.Lock(); }
  bool Await(std::string_view text) {
    auto all = all_.Lock();
    return all.WaitUntil(RealClock().Now() + std::chrono::seconds(60),
                         [&] { return !all->empty() && all->back().ToString() == text; });
  }

 private:
  Guarded<std::vector<Progress>> all_;
};

// Keeps log lines with their first fields.
class FirstFields final : public LogSink {
 public:
  bool Enabled(LogLevel level) const override { return level >= LogLevel::kInfo; }
  void Write(LogLevel, std::string_view message, std::span<const LogField> fields) override {
    lines.Lock()->push_back(std::string(message) + (fields.empty() ? "" : " " + fields[0].value));
  }
  bool Has(std::string_view line) const {
    const auto locked = lines.Lock();
    return std::find(locked->begin(), locked->end(), line) != locked->end();
  }
  Guarded<std::vector<std::string>> lines;
};

}  // namespace

TEST_CASE("server: a stop tells how many watches and requests are left, down to none", "[server]") {
  const auto reports = std::make_shared<DrainReports>();
  Notification entered;
  Notification go_on;
  const auto slow = [&](http::Exchange& exchange) {
    entered.Notify();
    return http::Step::OnPool([&] {
      go_on.Wait();
      exchange.writer().Send({}, "slow");
      return http::Step::Done();
    });
  };
  const auto server = StartWidgetServer(
      {.install = [&](auto& api) { return api.HandlePath("/slow", slow, /*listed=*/false); },
       .configure =
           [&](Config& config) {
             config.name = "widgets";
             config.progress = reports;
           }});
  const auto connection = server->server().LoopbackConnection();
  std::vector<std::unique_ptr<http::ClientStream>> open;
  for (int i = 0; i < 3; ++i) {
    open.push_back(connection->Open({.target = std::string(kWidgets) + "?watch=1"}).value());
    REQUIRE(open.back()->Head(Context::Background()).value().code == 200);
  }
  open.push_back(connection->Open({.target = "/slow"}).value());
  entered.Wait();

  Thread stop("stop", [&server] { server->server().Stop(); });
  CHECK(reports->Await("drain of widgets: 1 request left"));
  CHECK(server->Call("GET", "/readyz/shutdown").body ==
        "internal server error: process is shutting down: 1 request left\n");
  go_on.Notify();
  stop.Join();

  const std::vector<Progress> all = reports->all();
  REQUIRE(all.size() >= 3);
  CHECK(all.front().ToString() == "drain of widgets: 3 watches, 1 request left");
  for (std::size_t i = 1; i < all.size(); ++i) {
    CHECK(all[i].done >= all[i - 1].done);
    CHECK(all[i].total == 4);
    CHECK(all[i].finished == (i + 1 == all.size()));
  }
  CHECK(all.back().ToString() == "drain of widgets: 4 of 4 requests");
  CHECK(all.back().failure.ok());
}

TEST_CASE("server: a stop that gives requests up says so", "[server]") {
  const auto reports = std::make_shared<DrainReports>();
  Notification entered;
  Notification go_on;
  const auto slow = [&](http::Exchange& exchange) {
    return http::Step::OnPool([&] {
      entered.Notify();
      go_on.Wait();
      exchange.writer().Send({}, "slow");
      return http::Step::Done();
    });
  };
  const auto server = StartWidgetServer(
      {.install = [&](auto& api) { return api.HandlePath("/slow", slow, /*listed=*/false); },
       .configure =
           [&](Config& config) {
             config.name = "widgets";
             config.progress = reports;
             config.shutdown_grace = std::chrono::milliseconds(1);
           }});
  const auto connection = server->server().LoopbackConnection();
  const auto open = connection->Open({.target = "/slow"}).value();
  entered.Wait();

  Thread stop("stop", [&server] { server->server().Stop(); });
  CHECK(reports->Await("drain of widgets: 1 request left: its time is over"));
  go_on.Notify();
  stop.Join();

  CHECK(reports->all().back().finished);
}

TEST_CASE("server: warm-ups and drains are logged and counted unless there is another sink",
          "[server]") {
  const bool idle = GENERATE(true, false);
  FirstFields log;
  const auto server = StartWidgetServer(
      {.log = &log, .configure = [](Config& config) { config.name = "widgets"; }});

  CHECK(log.Has("warm-up finished /registry/example.com/widgets/"));
  CHECK(Contains(server->Call("GET", "/metrics").body,
                 "\napiserver_progress_finished_total{what=\"warm-up\",outcome=\"success\"} 1\n"));
  const auto connection = server->server().LoopbackConnection();
  std::unique_ptr<http::ClientStream> watch;
  if (!idle) {
    watch = connection->Open({.target = std::string(kWidgets) + "?watch=1"}).value();
    REQUIRE(watch->Head(Context::Background()).value().code == 200);
  }
  server->server().Stop();
  CHECK(log.Has("drain finished widgets") == !idle);
}

}  // namespace apiserver::inline v0::testing
