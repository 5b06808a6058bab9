#include <catch2/catch.hpp>

#include "apiserver/base/executor.h"
#include "apiserver/client/client.h"
#include "apiserver/http/listener.h"
#include "client/http_client/raw_server.h"

namespace http_client_test {
namespace {

// Row 90 of docs/security.md.
TEST_CASE("client: a kubeconfig without authorities trusts the machine's, not everybody",
          "[client]") {
  const auto pool = NewThreadPool({.name = "dialled"});
  http::Service service;
  service.pool = pool.get();
  service.handler = [](http::Exchange& exchange) {
    exchange.writer().Send({}, "the token is mine");
    return http::Step::Done();
  };
  const auto listener =
      http::Listen({.tls = http::NewServerTls(Pki().server).value()}, service).value();
  Kubeconfig config{.server = "https://127.0.0.1:" + std::to_string(listener->port()),
                    .tls_server_name = "server.test",
                    .token = "secret"};
  const auto dialer = http::NewDialer();
  const auto dial = [&] { return dialer->Dial(Context::Background(), *DialOptionsFor(config)); };

  CHECK(dial().status().message() == "tls: unable to get local issuer certificate");
  config.ca_pem = Pki().ca.certificate_pem;
  CHECK(dial().ok());
  listener->Stop(std::chrono::milliseconds(0));
}

}  // namespace
}  // namespace http_client_test
