#pragma once

#include <string>
#include <string_view>

#include "apiserver/base/sync.h"
#include "apiserver/http/stream.h"

namespace apiserver::inline v0::proxy {

// Holds the reader of one stream back while the stream that it writes to is full, or while it is
// ahead of its rate. The two may live on different loops: room may be told before the reader has
// noticed that there was none. Thread-safe.
class Valve final {
 public:
  // Sends `bytes` to `to`, and pauses `from` if there is no more room. Called on the loop of
  // `from`.
  void Pass(std::string_view bytes, http::ReadStream& from, http::Stream& to) {
    state_.Lock()->room_told = false;
    if (to.Write(std::string(bytes))) return;
    auto state = state_.Lock();
    if (!state->room_told) Change(*state, state->full, true, from);
  }
  // Lets `from` go on. Called on the loop of the stream that is written to.
  void OnRoom(http::ReadStream& from) {
    auto state = state_.Lock();
    state->room_told = true;
    Change(*state, state->full, false, from);
  }
  // Pauses `from` although there is room, or ends that. Called on any loop.
  void SetAhead(bool ahead, http::ReadStream& from) {
    auto state = state_.Lock();
    Change(*state, state->ahead, ahead, from);
  }

 private:
  struct State {
    bool room_told = false;  // Since the last write.
    bool full = false;
    bool ahead = false;
  };

  static void Change(const State& state, bool& reason, bool holds, http::ReadStream& from) {
    const bool was_held = state.full || state.ahead;
    reason = holds;
    const bool held = state.full || state.ahead;
    if (held && !was_held) from.Pause();
    if (was_held && !held) from.Resume();
  }

  Guarded<State> state_;
};

}  // namespace apiserver::inline v0::proxy
