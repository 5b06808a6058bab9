// Measures servers inside a program: one in a unit test, and a hundred in one process.
// Prints one JSON object; scripts/figures shows it as a table.

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apiserver/client/client.h"
#include "apiserver/http/dialer.h"
#include "apiserver/testing/server/test_server.h"
#include "apiserver/testing/storage/widget.h"

namespace {

using apiserver::Context;
using apiserver::Result;
using apiserver::Status;
namespace client = apiserver::client;
namespace rest = apiserver::rest;
namespace testing = apiserver::testing;

constexpr int kRounds = 50;
constexpr int kServers = 100;
const client::Target kWidgets{.resource = {"test.example.com", "v1", "widgets"}};

class WidgetStrategy final : public rest::Strategy {
 public:
  bool NamespaceScoped() const override { return true; }
  apiserver::field::ErrorList Validate(const Context&,
                                       const apiserver::runtime::Object&) const override {
    return {};
  }
};

Result<std::unique_ptr<testing::TestServer>> Start(bool listen) {
  return testing::StartTestServer({.resources = {{.kind = testing::NewWidgetKind(),
                                                  .strategy = std::make_shared<WidgetStrategy>()}},
                                   .listen = listen});
}

double Milliseconds(std::chrono::steady_clock::duration span) {
  return std::chrono::duration<double, std::milli>(span).count();
}

// Memory of this process that no file backs, in MB; zero: the kernel does not say.
double AnonymousMegabytes() {
  std::ifstream file("/proc/self/smaps_rollup");
  for (std::string line; std::getline(file, line);) {
    constexpr std::string_view kField = "Anonymous:";
    if (line.starts_with(kField)) return std::atof(line.c_str() + kField.size()) / 1024;
  }
  return 0;
}

// Starts a server, lists once and stops, kRounds times.
Status UnitTests() {
  const double before = AnonymousMegabytes();
  double memory = 0;
  const auto began = std::chrono::steady_clock::now();
  for (int round = 0; round < kRounds; ++round) {
    auto server = Start(/*listen=*/false);
    if (!server.ok()) return server.status();
    const auto list = (*server)->client().List(Context::Background(), kWidgets);
    if (!list.ok()) return list.status();
    if (round == 0) memory = AnonymousMegabytes() - before;
  }
  std::printf("\"unit_test_ms\": %.1f, \"unit_test_mb\": %.1f, ",
              Milliseconds(std::chrono::steady_clock::now() - began) / kRounds, memory);
  return {};
}

// Starts kServers servers with TLS listeners, each of which answers a list over TLS, and keeps
// them.
Status ManyServers() {
  const double before = AnonymousMegabytes();
  const auto began = std::chrono::steady_clock::now();
  std::vector<std::unique_ptr<testing::TestServer>> servers;
  for (int i = 0; i < kServers; ++i) {
    auto server = Start(/*listen=*/true);
    if (!server.ok()) return server.status();
    servers.push_back(*std::move(server));
  }
  const double started = Milliseconds(std::chrono::steady_clock::now() - began);
  for (const auto& server : servers) {
    const auto dialer = apiserver::http::NewDialer();
    auto over_tls = client::NewClient(server->kubeconfig(), *dialer);
    if (!over_tls.ok()) return over_tls.status();
    const auto list = (*over_tls)->List(Context::Background(), kWidgets);
    if (!list.ok()) return list.status();
  }
  std::printf("\"servers\": %d, \"servers_ms\": %.0f, \"servers_mb\": %.1f", kServers, started,
              AnonymousMegabytes() - before);
  return {};
}

}  // namespace

int main() {
  std::printf("{");
  for (const auto run : {&UnitTests, &ManyServers}) {
    const Status status = run();
    if (status.ok()) continue;
    std::fprintf(stderr, "error: %s\n", status.ToString().c_str());
    return 1;
  }
  std::printf("}\n");
  return 0;
}
