// Two servers of ours, one behind the aggregator of the other.
#include <catch2/catch.hpp>

#include <chrono>
#include <memory>
#include <string>

#include "aggregator/front.h"
#include "aggregator/target.h"
#include "apiserver/authn/request_header.h"
#include "apiserver/base/source.h"
#include "chained_load.h"

namespace aggregator_test {
namespace {

using namespace apiserver;  // NOLINT: tests only.

// A server of widgets that is the service ns/api of `front`, and knows it by a certificate.
struct BehindFront {
  BehindFront() { Start(); }

  // Starts it on the objects of the one before, at another port.
  void Start() {
    testing::TestServerOptions options{.engine = engine.get(), .listen = true};
    options.configure = [this](server::Config& config) {
      config.serving->tls = http::NewServerTls(pair).value();
      config.authenticator = authn::NewRequestHeader(
          {.ca = std::make_shared<Variable<std::string>>(authority.certificate_pem),
           .names =
               std::make_shared<Variable<authn::RequestHeaderNames>>(authn::RequestHeaderNames())});
    };
    extension = testing::StartWidgetServer(std::move(options));
    front.Serve("127.0.0.1:" + std::to_string(extension->server().port()));
  }
  bool Register() const {
    return front.AddRemote("example.com", "v1") == 201 &&
           front.Becomes("v1.example.com", "True/Passed/") &&
           Eventually([this] { return front.Get(testing::kWidgets).code == 200; });
  }

  const http::KeyPair pair = ServicePair("api.ns.svc");
  const http::KeyPair authority =
      http::NewCertificateAuthority("front-proxy-ca", RealClock()).value();
  const Front front{
      std::chrono::milliseconds(100),
      std::chrono::seconds(1),
      {},
      nullptr,
      http::NewCertificate(authority, {.common_name = "aggregator", .client = true}, RealClock())
          .value()};
  const std::unique_ptr<storage::kv::Engine> engine = storage::memory::NewEngine();
  std::unique_ptr<testing::TestServer> extension;
};

void RunLoadBehindAggregator(std::chrono::milliseconds time,
                             std::chrono::milliseconds between_restarts) {
  BehindFront chain;
  REQUIRE(chain.Register());
  testing::RunChainedLoad(
      {.front = *chain.front.server,
       .behind = [&chain]() -> testing::TestServer& { return *chain.extension; },
       .restart =
           [&chain] {
             chain.extension.reset();
             chain.Start();
           }},
      time, between_restarts);
}

TEST_CASE("aggregator: restarts behind a server of ours lose nothing, and watches go on") {
  RunLoadBehindAggregator(std::chrono::seconds(2), std::chrono::milliseconds(500));
}

TEST_CASE("aggregator: restarts behind a server of ours under half a minute of load", "[.load]") {
  RunLoadBehindAggregator(std::chrono::seconds(30), std::chrono::seconds(3));
}

}  // namespace
}  // namespace aggregator_test
