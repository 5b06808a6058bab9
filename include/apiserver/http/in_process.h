#pragma once

#include <memory>

#include "apiserver/http/dialer.h"
#include "apiserver/http/exchange.h"

namespace apiserver::inline v0::http {

// Makes a connection that runs requests through `service` without a socket, with the whole chain
// and the same driver. `identity` stands for the certificates of a TLS handshake; null: none were
// sent. Owns a loop thread; `service` must outlive it. Follows Connection's contract, but an answer
// that upgrades is an error, and OpenStream and OpenUpgrade give kMethodNotAllowed.
std::unique_ptr<Connection> NewInProcessConnection(
    const Service& service, std::shared_ptr<const PeerCertificates> identity = nullptr);

}  // namespace apiserver::inline v0::http
