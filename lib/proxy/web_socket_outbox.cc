#include "proxy/web_socket_outbox.h"

#include <utility>

namespace apiserver::v0::proxy {

namespace {

// The bytes below which there is room again.
constexpr std::size_t kRoomBytes = std::size_t{64} << 10;

}  // namespace

// Wakes under the lock: the exchange that is woken must not be held after Close().
bool WebSocketOutbox::Push(std::string message) {
  auto state = state_.Lock();
  if (state->ended) return true;
  state->bytes += message.size();
  state->messages.push_back(std::move(message));
  const bool full = state->bytes >= kFullBytes;
  state->told_full |= full;
  state->waker.Wake();
  return !full;
}

void WebSocketOutbox::End() {
  auto state = state_.Lock();
  state->ended = true;
  state->waker.Wake();
}

void WebSocketOutbox::Close() {
  auto state = state_.Lock();
  state->ended = true;
  state->messages.clear();
  state->bytes = 0;
  state->waker = Waker();
}

http::Pull WebSocketOutbox::Next(http::WebSocketWriter& out, const Waker& waker) {
  bool room = false;
  {
    auto state = state_.Lock();
    if (state->messages.empty()) {
      if (state->ended) return http::Pull::kEnd;
      state->waker = waker;
      return http::Pull::kWait;
    }
    do {
      const std::string message = std::move(state->messages.front());
      state->messages.pop_front();
      state->bytes -= message.size();
      out.Write(message, /*binary=*/true);
    } while (!state->messages.empty() && out.room() > state->messages.front().size());
    room = state->told_full && state->bytes < kRoomBytes;
    if (room) state->told_full = false;
  }
  if (room) on_room_();
  return http::Pull::kMore;
}

}  // namespace apiserver::v0::proxy
