#include "proxy/web_socket_outbox.h"

#include <utility>

namespace apiserver::v0::proxy {

namespace {

// The bytes below which there is room again.
constexpr std::size_t kRoomBytes = std::size_t{64} << 10;

}  // namespace

bool WebSocketOutbox::Push(std::string message) {
  Waker waker;
  bool full = false;
  {
    auto state = state_.Lock();
    if (state->ended) return true;
    state->bytes += message.size();
    state->messages.push_back(std::move(message));
    full = state->bytes >= kFullBytes;
    state->told_full |= full;
    waker = state->waker;
  }
  waker.Wake();
  return !full;
}

void WebSocketOutbox::End() {
  Waker waker;
  {
    auto state = state_.Lock();
    state->ended = true;
    waker = state->waker;
  }
  waker.Wake();
}

http::Pull WebSocketOutbox::Next(http::WebSocketWriter& out, const Waker& waker) {
  bool room = false;
  {
    auto state = state_.Lock();
    state->waker = waker;
    if (state->messages.empty()) return state->ended ? http::Pull::kEnd : http::Pull::kWait;
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
