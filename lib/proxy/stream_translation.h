#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "apiserver/base/executor.h"
#include "apiserver/http/stream.h"
#include "apiserver/http/websocket.h"
#include "apiserver/proxy/pipes.h"
#include "apiserver/proxy/stream_translator.h"

namespace apiserver::inline v0::proxy {

// One exec or attach: a client's WebSocket of v5.channel.k8s.io and a kubelet's SPDY session.
struct StreamTranslation {
  // The kubelet's connection, after its 101 and not started.
  std::unique_ptr<http::Stream> kubelet;
  // The loop of the kubelet's connection. Outlives the translation.
  Executor* loop = nullptr;
  RemoteCommandStreams streams = {};
  // The subprotocol that the kubelet has chosen. Empty: channel.k8s.io. v4.channel.k8s.io tells
  // outcomes as Statuses, older ones as texts; before v3 terminals have no sizes.
  std::string protocol = {};
  // Null: the translation is not counted.
  std::unique_ptr<Pipes::Place> place;
  // The time in which the kubelet must accept all streams.
  std::chrono::milliseconds streams_timeout = std::chrono::seconds(30);
  // A translation in which neither side has sent anything for this long is ended. Zero: never.
  std::chrono::milliseconds idle_timeout = PipeLimits().idle_timeout;
  // Told the code for metrics, once, on `loop`: 500 if the client goes first. May be empty.
  std::function<void(int code)> on_outcome = {};
};

// Returns the handler of the client's WebSocket. The translation begins when the WebSocket opens,
// and ends with it; a handler that is destroyed unopened lets the kubelet go.
std::unique_ptr<http::WebSocketHandler> NewStreamTranslation(StreamTranslation setup);

}  // namespace apiserver::inline v0::proxy
