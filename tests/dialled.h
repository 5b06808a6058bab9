#pragma once

#include <memory>

#include "apiserver/http/dialer.h"
#include "apiserver/testing/server/test_server.h"
#include "websocket_client.h"

namespace apiserver::inline v0::testing {

// Clients over HTTP/1.1 and TLS, as the administrator, of a server that listens.
class Dialled {
 public:
  explicit Dialled(TestServer& server)
      : dialer_(http::NewDialer()), server_(server), first_(Connect()) {}

  http::Connection& connection() { return *first_; }
  std::unique_ptr<http::Connection> Connect() {
    const client::Kubeconfig config = server_.kubeconfig();
    return dialer_
        ->Dial(Context::Background(),
               {.port = server_.server().port(),
                .tls = http::ClientTls{.ca_pem = config.ca_pem,
                                       .client = {config.client_certificate_pem,
                                                  config.client_key_pem}},
                .http2 = false})
        .value();
  }

 private:
  std::unique_ptr<http::Dialer> dialer_;
  TestServer& server_;
  std::unique_ptr<http::Connection> first_;
};

}  // namespace apiserver::inline v0::testing
