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

// The streams of a command in a container.
struct RemoteCommandStreams {
  bool stdin_open = false;
  bool stdout_open = false;
  bool stderr_open = false;  // Not with a terminal, which has one output.
  bool tty = false;
};

// Returns whether the request asks for a WebSocket with the subprotocol v5.channel.k8s.io, which
// kubelets do not speak: see StreamTranslatorHandler.
bool AsksForStreamProtocolV5(const http::Request& request);

// Serves exec and attach over a WebSocket with the subprotocol v5.channel.k8s.io by a kubelet that
// speaks SPDY/3.1. Each binary message of the client is a channel's number and its bytes: 0 stdin,
// 1 stdout, 2 stderr, 3 the outcome as a Status, 4 the terminal's size; 255 and a number close a
// channel. Both sides are held back while the other is slow.
//
// The kubelet is asked before the client's request is answered, so that a failure is an error of
// HTTP, upon which kubectl tries SPDY. Upstream accepts first, and tells the failure on channel 3.
// A kubelet that is lost before it has told the outcome is an InternalError on channel 3, where
// upstream tells success. Otherwise follows
// k8s.io/apiserver/pkg/util/proxy.StreamTranslatorHandler.
//
// Errors: those of AcceptWebSocket and of Pipes::Enter; kTimeout: the kubelet has not answered;
// kUnknown: "error dialing backend: …"; kInternalError: "Internal error occurred: unable to upgrade
// connection: …", with the text by which the kubelet has refused.
struct StreamTranslatorHandler {
  Location location;  // The kubelet's, with the query that names the command and its streams.
  // Required.
  std::shared_ptr<UpstreamPool> pool;
  // Where to connect instead of the location's host. nullopt: the location's host.
  std::optional<Endpoint> endpoint = {};
  RemoteCommandStreams streams = {};
  // Counts and limits upgraded connections. Null: each has the default time limits.
  std::shared_ptr<Pipes> pipes = nullptr;
  // The name of the user whose upgraded connections are counted.
  std::string user = {};
  // Told the code of each request: 200 if the command was run, whatever its exit code, and 500 if
  // the client went before it ended. Called on a loop; must not block. May be empty.
  std::function<void(int code)> on_request = {};

  // Answers the request of `exchange`. On a loop or the pool.
  http::Step ServeHTTP(http::Exchange& exchange) const;
};

}  // namespace apiserver::inline v0::proxy
