// How long a write may take until it is answered.
#include <catch2/catch.hpp>

#include "filter_fixture.h"
#include "widget_server.h"

using namespace apiserver;  // NOLINT: tests only.
using apiserver::testing::Contains;
using apiserver::testing::kWidgets;
using apiserver::testing::StartWidgetServer;

namespace {

// Waits until the test lets it go.
class Waiting final : public admission::Plugin {
 public:
  std::string_view name() const override { return "Waiting"; }
  bool Handles(admission::Operation) const override { return true; }
  Status Validate(const Context&, const admission::Attributes&) const override {
    go_on.Wait();
    return {};
  }
  mutable Notification go_on;
};

}  // namespace

TEST_CASE("server: a write that takes longer than write_timeout is answered 504", "[server]") {
  const auto waiting = std::make_shared<Waiting>();
  testing::TestServerOptions options;
  options.configure = [&](server::Config& config) {
    config.admission = {waiting};
    // Long enough for the request to come as far as admission on a busy machine.
    config.write_timeout = std::chrono::milliseconds(500);
  };
  const auto server = StartWidgetServer(std::move(options));

  const auto late = server->Call("POST", kWidgets, testing::Widget("a", 1));
  waiting->go_on.Notify();

  CHECK(late.code == 504);
  CHECK(Contains(late.body, "request did not complete within requested timeout"));
  // The write itself goes on.
  const auto until = RealClock().Now() + std::chrono::seconds(60);
  int code = 0;
  while (code != 200 && RealClock().Now() < until) {
    code = server->Call("GET", std::string(kWidgets) + "/a").code;
  }
  CHECK(code == 200);
}

TEST_CASE("server: write_timeout must be positive", "[server]") {
  server::Config config;
  config.authenticator = std::make_shared<testing::Anybody>();
  config.write_timeout = std::chrono::milliseconds(0);

  CHECK(std::move(config).Complete().status().message() ==
        "server config: write_timeout must be positive");
}
