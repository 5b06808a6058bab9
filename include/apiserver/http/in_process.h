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

// The in-process connections of one service, which can all be cut, as a listener's can. They share
// up to four loop threads, one for 32 connections, which end with the last of them and this. Any
// thread but those may call it and destroy its connections.
class InProcessConnections {
 public:
  // `service` must outlive the cut, not the connections.
  explicit InProcessConnections(const Service& service);
  InProcessConnections(const InProcessConnections&) = delete;
  InProcessConnections& operator=(const InProcessConnections&) = delete;
  ~InProcessConnections();  // Cuts.

  // Makes a connection as NewInProcessConnection() does, which may outlive the service.
  std::unique_ptr<Connection> New(std::shared_ptr<const PeerCertificates> identity = nullptr);
  // Ends the calls of all connections. They and all later calls are answered kServiceUnavailable.
  // Blocks until no connection uses the service any more. Idempotent.
  void Cut();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace apiserver::inline v0::http
