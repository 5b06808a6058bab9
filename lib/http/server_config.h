#pragma once

#include <memory>
#include <string>

#include "apiserver/http/exchange.h"
#include "apiserver/http/listener.h"
#include "apiserver/http/message.h"
#include "http/driver.h"
#include "http/protocol.h"

namespace apiserver::inline v0::http {

// The settings that all connections of a listener share.
struct ServerConfig {
  ListenerOptions options;
  const Service* service = nullptr;  // Outlives the connections.
};

// The facts about its client that all requests of a connection share.
struct Origin {
  std::string remote_address = {};                    // "127.0.0.1:40000".
  std::shared_ptr<const PeerCertificates> peer = {};  // Null: the client sent none.
  bool tls = false;
};

// Make a server's side of a connection. `wire` must outlive it.
std::unique_ptr<Protocol> NewHttp1Server(Wire& wire, std::shared_ptr<const ServerConfig> config,
                                         Origin origin);
std::unique_ptr<Protocol> NewHttp2Server(Wire& wire, std::shared_ptr<const ServerConfig> config,
                                         Origin origin);

}  // namespace apiserver::inline v0::http
