// The health check "log".
#include "server/watched_log.h"

#include <catch2/catch.hpp>
#include <chrono>
#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "apiserver/base/sync.h"
#include "apiserver/testing/server/fake_clock.h"
#include "widget_server.h"

namespace apiserver::inline v0::server {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

// Runs `during` while the thread that made it writes a line; a server that stops writes on others
// too.
class SlowLog final : public LogSink {
 public:
  bool Enabled(LogLevel level) const override { return level != LogLevel::kDebug; }
  void Write(LogLevel, std::string_view message, std::span<const LogField> fields) override {
    std::string line(message);
    for (const LogField& field : fields) line += " " + field.value;
    lines.Lock()->push_back(std::move(line));
    if (std::this_thread::get_id() != maker_) return;
    const std::function<void()> now = during;  // It may set another.
    now();
  }

  std::function<void()> during = [] {};
  Guarded<std::vector<std::string>> lines;

 private:
  const std::thread::id maker_ = std::this_thread::get_id();
};

}  // namespace

TEST_CASE("server: a log is blocked when a line has not been written for two minutes", "[server]") {
  testing::FakeClock clock;
  SlowLog slow;
  WatchedLog log(slow, clock);
  std::vector<std::string> said;
  slow.during = [&] {
    for (const auto wait : {seconds(0), seconds(119), seconds(1)}) {
      clock.Advance(wait);
      said.emplace_back(log.Check().message());
    }
  };

  Log(log, LogLevel::kInfo, "a line", {{"key", "value"}});

  CHECK(said == std::vector<std::string>{"", "", "logging blocked"});
  CHECK(log.Check().ok());
  CHECK(*slow.lines.Lock() == std::vector<std::string>{"a line value"});
  CHECK_FALSE(log.Enabled(LogLevel::kDebug));
}

TEST_CASE("server: the log is a health check of each kind, behind ping", "[server]") {
  const auto server = testing::StartWidgetServer();
  for (const std::string path : {"/healthz", "/livez", "/readyz"}) {
    INFO(path);
    CHECK(server->Call("GET", path + "/log").body == "ok");
    CHECK(server->Call("GET", path + "?verbose").body.starts_with("[+]ping ok\n[+]log ok\n"));
  }
}

TEST_CASE("server: a server whose log hangs says so", "[server]") {
  testing::FakeClock clock;
  SlowLog slow;
  std::string said;
  testing::TestServerOptions options;
  options.log = &slow;
  options.clock = &clock;
  const auto server = testing::StartWidgetServer(std::move(options));
  // The first line of stopping, on this thread.
  slow.during = [&] {
    slow.during = [] {};
    clock.Advance(minutes(2));
    said = server->Call("GET", "/healthz/log").body;
  };

  server->server().Stop();

  CHECK(said == "internal server error: logging blocked\n");
}

}  // namespace apiserver::inline v0::server
