#pragma once

#include <memory>

#include "apiserver/http/dialer.h"
#include "apiserver/http/exchange.h"

namespace apiserver::inline v0::http {

// Runs requests through `service` without a socket: whole chain, same driver. `identity` is what a
// TLS handshake would have brought. Owns a loop thread; `service` must outlive it. Connections made
// by it obey Connection's contract; Upgrade answers are not supported.
std::unique_ptr<Connection> NewInProcessConnection(
    const Service& service, std::shared_ptr<const PeerCertificates> identity = nullptr);

}  // namespace apiserver::inline v0::http
