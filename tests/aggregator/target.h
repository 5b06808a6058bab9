#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "apiserver/base/sync.h"
#include "http/support.h"

// Extension servers of the tests of the aggregator.
namespace aggregator_test {

// A certificate for a service of the tests' authority.
inline apiserver::http::KeyPair ServicePair(const std::string& name = "test-service.test-ns.svc") {
  return apiserver::http::NewCertificate(http_test::Pki().ca,
                                         {.common_name = "test-service", .dns_names = {name}},
                                         apiserver::RealClock())
      .value();
}

// An extension server that remembers its last request, and answers 200, or what `answer` does.
struct Target {
  explicit Target(const apiserver::http::KeyPair& pair = ServicePair(),
                  apiserver::http::Handler answer = nullptr)
      : service([this, answer = std::move(answer)](
                    apiserver::http::Exchange& exchange) -> apiserver::http::Step {
          *seen.Lock() = exchange.request();
          if (answer) return answer(exchange);
          if (exchange.request().IsUpgrade()) return Echo(exchange);
          exchange.writer().Send({}, "");
          return apiserver::http::Step::Done();
        }),
        server(service.service, http_test::Wire::kTlsHttp2,
               {.tls = apiserver::http::NewServerTls(pair).value()}) {}

  static apiserver::http::Step Echo(apiserver::http::Exchange& exchange) {
    const apiserver::Status status = exchange.writer().Upgrade(
        {.code = 101, .headers = {{"Upgrade", "echo"}}},
        [](std::unique_ptr<apiserver::http::Tunnel> tunnel) {
          const std::shared_ptr<apiserver::http::Tunnel> kept = std::move(tunnel);
          kept->Start(http_test::NewSink({
              .data = [kept](auto bytes) { kept->Write("hello " + std::string(bytes)); },
          }));
        });
    if (!status.ok()) return status;
    return apiserver::http::Step::Done();
  }
  std::string host() { return "127.0.0.1:" + std::to_string(server.listener().port()); }

  apiserver::Guarded<std::optional<apiserver::http::Request>> seen;
  http_test::TestService service;
  http_test::TestServer server;
};

}  // namespace aggregator_test
