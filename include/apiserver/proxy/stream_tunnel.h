#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "apiserver/http/exchange.h"
#include "apiserver/http/message.h"
#include "apiserver/proxy/location.h"
#include "apiserver/proxy/pipes.h"
#include "apiserver/proxy/upstream_pool.h"

namespace apiserver::inline v0::proxy {

// Returns whether the request asks for a WebSocket with a subprotocol like
// SPDY/3.1+portforward.k8s.io: see TunnelingHandler. Follows k8s.io/streaming
// wsstream.IsWebSocketRequestWithTunnelingProtocol.
bool AsksForSpdyTunnel(const http::Request& request);

// Serves port-forward over a WebSocket whose binary messages carry a SPDY/3.1 session, by a kubelet
// that speaks SPDY: what either side sends is passed on, and held back while the other is slow. The
// messages' bounds mean nothing. A text message ends the tunnel.
//
// The kubelet is asked first: its answer, if it does not switch protocols, is the client's, as far
// as 64 KiB of its body. Follows k8s.io/apiserver/pkg/util/proxy.TunnelingHandler.
//
// Errors: kBadRequest: "unable to upgrade: no tunneling spdy protocols provided"; kInternalError:
// "Internal error occurred: unable to upgrade: missing upgrade headers in response"; otherwise
// those of StreamTranslatorHandler.
struct TunnelingHandler {
  Location location;  // The kubelet's.
  // Required.
  std::shared_ptr<UpstreamPool> pool;
  // Where to connect instead of the location's host. nullopt: the location's host.
  std::optional<Endpoint> endpoint = {};
  // Counts and limits upgraded connections. Null: each has the default time limits.
  std::shared_ptr<Pipes> pipes = nullptr;
  // The name of the user whose upgraded connections are counted.
  std::string user = {};
  // Told the code that each request is answered with. Called on a loop; must not block. May be
  // empty.
  std::function<void(int code)> on_request = {};

  // Answers the request of `exchange`. On a loop or the pool.
  http::Step ServeHTTP(http::Exchange& exchange) const;
};

}  // namespace apiserver::inline v0::proxy
