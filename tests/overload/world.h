#pragma once

#include <memory>
#include <string>

#include "apiserver/client/kubeconfig.h"
#include "apiserver/http/dialer.h"
#include "apiserver/server/server.h"
#include "apiserver/server/standalone.h"

// A server over TLS whose every seat is held for five milliseconds.
namespace overload {

inline constexpr int kSeats = 4;
inline constexpr char kTarget[] = "/apis/example.com/v1/namespaces/default/widgets/one";

class World {
 public:
  static apiserver::Result<std::unique_ptr<World>> Start();
  ~World();

  int port() const { return server_->port(); }
  const std::string& ca_pem() const { return standalone_.ca_pem; }
  apiserver::server::GenericAPIServer& server() { return *server_; }
  apiserver::Result<std::shared_ptr<apiserver::http::Connection>> Dial(
      apiserver::http::Dialer& dialer) const;
  // A request of one tenant's; "master" is in system:masters.
  static apiserver::http::ClientRequest RequestOf(const std::string& user);

 private:
  apiserver::Status Configure();

  apiserver::server::Standalone standalone_;
  std::unique_ptr<apiserver::server::GenericAPIServer> server_;
};

}  // namespace overload
