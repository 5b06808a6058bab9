// What a server logs of each request.
#include <catch2/catch.hpp>

#include "apiserver/base/sync.h"
#include "server/requests/access_log.h"
#include "widget_server.h"

using apiserver::testing::Contains;
using apiserver::testing::kWidgets;
using apiserver::testing::StartWidgetServer;

namespace {

// Keeps the access log's lines, if its level is wanted.
class AccessLines final : public apiserver::LogSink {
 public:
  explicit AccessLines(apiserver::LogLevel lowest) : lowest_(lowest) {}
  bool Enabled(apiserver::LogLevel level) const override { return level >= lowest_; }
  void Write(apiserver::LogLevel, std::string_view message,
             std::span<const apiserver::LogField> fields) override {
    if (message != "HTTP") return;
    std::string line;
    for (const auto& field : fields) {
      const bool varies = field.key == "latency";
      line += std::string(field.key) + "=" + (varies ? "?" : field.value) + " ";
    }
    lines_.Lock()->push_back(std::move(line));
    lines_.NotifyAll();
  }
  // The first line; waits for it.
  std::string Take() {
    auto lines = lines_.Lock();
    REQUIRE(lines.WaitUntil(apiserver::RealClock().Now() + std::chrono::seconds(60),
                            [&] { return !lines->empty(); }));
    std::string line = lines->front();
    lines->erase(lines->begin());
    return line;
  }
  std::size_t size() const { return lines_.Lock()->size(); }

 private:
  const apiserver::LogLevel lowest_;
  apiserver::Guarded<std::vector<std::string>> lines_;
};

// Says something about every request that is authorized.
class Talking final : public apiserver::auth::Authorizer {
 public:
  apiserver::Result<apiserver::auth::Verdict> Authorize(
      const apiserver::Context& ctx, const apiserver::auth::Attributes&) const override {
    apiserver::server::AddKeyValue(ctx, "apf_pl", "exempt");
    return apiserver::auth::Verdict{apiserver::auth::Decision::kAllow};
  }
};

}  // namespace

// httplog TestWithLogging, TestLogOf
TEST_CASE("server: at level debug a request is a line without credentials", "[server]") {
  AccessLines lines(apiserver::LogLevel::kDebug);
  const auto server =
      StartWidgetServer({.log = &lines, .configure = [](apiserver::server::Config& config) {
                           config.authorizer = std::make_shared<Talking>();
                         }});
  REQUIRE(server
              ->Call("GET", std::string(kWidgets) + "?limit=1&access_token=hunter2", "",
                     {{"User-Agent", "me"}, {"Audit-ID", std::string(70, 'a')}})
              .code == 200);
  CHECK(lines.Take() == "verb=LIST URI=" + std::string(kWidgets) +
                            "?limit=1&access_token=REDACTED latency=? userAgent=me audit-ID=" +
                            std::string(64, 'a') + " srcIP= apf_pl=exempt resp=200 ");
  REQUIRE(server->Call("GET", kWidgets, "", {{"Authorization", "Bearer hunter2"}}).code == 401);
  const std::string refused = lines.Take();
  CHECK(Contains(refused, " resp=401 err=Unauthorized "));
  CHECK_FALSE(Contains(refused, "hunter2"));
  (void)server->Call("PATCH", std::string(kWidgets) + "/a", "{}",
                     {{"Content-Type", "application/apply-patch+yaml"}});
  CHECK(lines.Take().starts_with("verb=APPLY "));
  (void)server->Call("POST", kWidgets, "{}");
  CHECK(lines.Take().starts_with("verb=POST "));
}

TEST_CASE("server: above level debug no request is a line", "[server]") {
  AccessLines lines(apiserver::LogLevel::kInfo);
  const auto server = StartWidgetServer({.log = &lines});
  REQUIRE(server->Call("GET", kWidgets).code == 200);
  CHECK(lines.size() == 0);
}
