#pragma once

#include <cstddef>
#include <deque>
#include <string>

#include "apiserver/base/executor.h"
#include "apiserver/base/function.h"
#include "apiserver/base/sync.h"
#include "apiserver/http/exchange.h"
#include "apiserver/http/websocket.h"

namespace apiserver::inline v0::proxy {

// Binary messages for a WebSocket that come from another loop, taken while the peer reads.
// Thread-safe; no method blocks.
class WebSocketOutbox {
 public:
  // The bytes at which whoever writes should stop.
  static constexpr std::size_t kFullBytes = std::size_t{256} << 10;

  // `on_room` is called once after a Push that returned false, when there is room, on the thread
  // that sends; it must not block.
  explicit WebSocketOutbox(UniqueFunction<void()> on_room) : on_room_(std::move(on_room)) {}

  // Queues a message. False: enough waits.
  bool Push(std::string message);
  // Lets the WebSocket close with 1000 after what is queued. Later messages are dropped.
  void End();
  // Drops what is queued, and wakes nobody from now on. Called on the WebSocket's loop when it is
  // closed: it belongs to a server, which the other connection may outlive.
  void Close();
  // Makes messages of a WebSocket: see WebSocketHandler::Next.
  http::Pull Next(http::WebSocketWriter& out, const Waker& waker);

 private:
  struct State {
    std::deque<std::string> messages;
    std::size_t bytes = 0;
    bool told_full = false;
    bool ended = false;
    Waker waker;
  };
  Guarded<State> state_;
  UniqueFunction<void()> on_room_;
};

}  // namespace apiserver::inline v0::proxy
