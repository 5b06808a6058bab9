#include "storage/kv/lease_thread.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace apiserver::v0::storage::kv {

void LeaseThread::Watch(std::optional<Clock::Monotonic> end) {
  next_.store(end ? end->time_since_epoch().count() : kNever, std::memory_order_release);
  if (!end) return;
  {
    auto state = state_.Lock();
    state->changed = true;
    // Most stores have no leases and need no thread.
    if (!state->stopping && !state->thread.joinable()) {
      state->thread = Thread("kv-leases", [this] { Run(); });
    }
  }
  state_.NotifyAll();
}

bool LeaseThread::Due() const {
  const auto next = next_.load(std::memory_order_acquire);
  return next != kNever && clock_.Now().time_since_epoch().count() >= next;
}

void LeaseThread::Stop() {
  // Joined when it is destroyed, without the lock, which Run() takes.
  Thread thread;
  {
    auto state = state_.Lock();
    state->stopping = true;
    thread = std::move(state->thread);
  }
  state_.NotifyAll();
}

void LeaseThread::Run() {
  using std::chrono::milliseconds;
  for (;;) {
    {
      auto state = state_.Lock();
      const auto next = next_.load(std::memory_order_acquire);
      milliseconds wait(1000);
      if (next != kNever) {
        const Clock::Monotonic end{Clock::Monotonic::duration(next)};
        const auto left = std::chrono::ceil<milliseconds>(end - clock_.Now());
        wait = std::clamp(left, milliseconds(1), wait);
      }
      // Waits by the machine's time: an injected clock that stands still must not make this spin.
      state.WaitUntil(RealClock().Now() + wait,
                      [&state] { return state->stopping || state->changed; });
      if (state->stopping) return;
      state->changed = false;
    }
    if (Due()) expire_();
  }
}

}  // namespace apiserver::v0::storage::kv
