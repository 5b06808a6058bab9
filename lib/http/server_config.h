#pragma once

#include <memory>
#include <string>

#include "apiserver/http/exchange.h"
#include "apiserver/http/listener.h"
#include "apiserver/http/message.h"
#include "http/driver.h"
#include "http/protocol.h"

namespace apiserver::inline v0::http {

// What all connections of a listener share.
struct ServerConfig {
  ListenerOptions options;
  const Service* service = nullptr;
};

// What all requests of a connection share.
struct Origin {
  std::string remote_address = {};
  std::shared_ptr<const PeerCertificates> peer = {};
  bool tls = false;
};

std::unique_ptr<Protocol> NewHttp1Server(Wire& wire, std::shared_ptr<const ServerConfig> config,
                                         Origin origin);
std::unique_ptr<Protocol> NewHttp2Server(Wire& wire, std::shared_ptr<const ServerConfig> config,
                                         Origin origin);

}  // namespace apiserver::inline v0::http
