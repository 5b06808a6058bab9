#pragma once

#include <cstddef>
#include <memory>
#include <utility>

#include "apiserver/base/sync.h"
#include "apiserver/http/websocket.h"

namespace apiserver::inline v0::proxy {

// Counts the bytes of a WebSocket's messages that are on their way to another connection, and holds
// the peer back while they are many. Thread-safe; no method blocks.
class WebSocketInbox {
 public:
  // Called before the first message.
  void Open(const std::shared_ptr<http::WebSocket>& socket) { state_.Lock()->socket = socket; }
  // Lets the WebSocket go. Called on its loop when it is closed: it belongs to a server, which the
  // other connection may outlive.
  void Close() { state_.Lock()->socket.reset(); }
  // Counts a message that has come.
  void Add(std::size_t bytes) {
    auto state = state_.Lock();
    state->bytes += bytes;
    if (state->bytes < kFullBytes || state->paused || state->stopped) return;
    state->paused = true;
    if (const auto socket = state->socket.lock()) socket->Pause();
  }
  // Takes bytes off the count: the other connection had room for them.
  void Remove(std::size_t bytes) {
    auto state = state_.Lock();
    state->bytes -= bytes;
    if (!state->paused || state->bytes >= kRoomBytes) return;
    state->paused = false;
    if (const auto socket = state->socket.lock()) socket->Resume();
  }
  // Holds the peer back no more: its messages are not taken any longer.
  void Stop() {
    auto state = state_.Lock();
    state->stopped = true;
    if (!std::exchange(state->paused, false)) return;
    if (const auto socket = state->socket.lock()) socket->Resume();
  }

 private:
  static constexpr std::size_t kFullBytes = std::size_t{256} << 10;
  static constexpr std::size_t kRoomBytes = std::size_t{64} << 10;
  struct State {
    std::weak_ptr<http::WebSocket> socket;
    std::size_t bytes = 0;
    bool paused = false;
    bool stopped = false;
  };
  Guarded<State> state_;
};

}  // namespace apiserver::inline v0::proxy
