// Measures the memory that a server keeps for a watch that waits.
#include <malloc.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "apiserver/audit/backend.h"
#include "apiserver/audit/policy.h"
#include "widget_server.h"

using apiserver::Context;
using apiserver::testing::kWidgets;
using apiserver::testing::StartWidgetServer;
using apiserver::testing::TestServer;
namespace audit = apiserver::audit;

namespace {

constexpr int kWatches = 1000;

class Forgetful final : public audit::Backend {
 public:
  std::string name() const override { return "forgetful"; }
  apiserver::Status Run(const audit::BackendEnvironment&) override { return {}; }
  void ProcessEvents(audit::Events, Done done) override {
    if (done) done(true);
  }
  bool Holds() const override { return false; }
  void Shutdown(std::chrono::milliseconds) override {}
};

// The bytes of the whole program; zero with a sanitizer's allocator.
std::size_t HeapBytes() { return mallinfo2().uordblks; }

using Watches = std::vector<std::unique_ptr<apiserver::http::ClientStream>>;

// Returns when the watches wait, on the loop of `connection`.
void OpenWatches(apiserver::http::Connection& connection, Watches& watches) {
  for (int i = 0; i < kWatches; ++i) {
    const std::string target = std::string(kWidgets) + "?watch=1&allowWatchBookmarks=true";
    watches.push_back(connection.Open({.target = target}).value());
    REQUIRE(watches.back()->Head(Context::Background()).ok());
  }
  for (int turns = 0; turns < 2; ++turns) {
    REQUIRE(connection.Call(Context::Background(), {.target = "/version"}).ok());
  }
}

std::size_t BytesOfWatch(TestServer& server) {
  const auto connection = server.server().LoopbackConnection();
  Watches watches;
  // The first ones make the parts that all watches share.
  OpenWatches(*connection, watches);
  const std::size_t before = HeapBytes();
  OpenWatches(*connection, watches);
  return (HeapBytes() - before) / kWatches;
}

}  // namespace

// As glibc rounds them, and with what the client keeps in the same process: an allocation that a
// watch keeps, or a type that grows, shows here.
TEST_CASE("server: a watch that waits keeps few bytes, also with its audit event", "[server]") {
  const auto server = StartWidgetServer();
  const auto audited = StartWidgetServer({.configure = [](apiserver::server::Config& config) {
    config.audit_policy = audit::NewPolicyRuleEvaluator(
        audit::ParsePolicy("apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{level: Metadata}]")
            .value());
    config.audit_backend = std::make_shared<Forgetful>();
  }});

  const std::size_t bare = BytesOfWatch(*server);
  const std::size_t with_event = BytesOfWatch(*audited);

  CHECK(bare <= 4540);
  CHECK(with_event <= bare + 450);
}
