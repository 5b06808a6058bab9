#include "controller/pool_workers.h"

#include <algorithm>

namespace apiserver::v0::controller {

using std::chrono::nanoseconds;

void PoolWorkers::Start(std::function<bool()> ready, nanoseconds pause) {
  pool_.Post([weak = weak_from_this(), ready = std::move(ready), pause]() mutable {
    const auto self = weak.lock();
    if (self == nullptr || !self->Enter()) return;
    const bool begin = ready();
    const std::size_t early = begin ? self->Begin() : 0;
    self->Leave();
    // As many come as were called: each would take a thread of the pool, if only for a look.
    for (std::size_t i = 0; i < early; ++i) self->Call(nanoseconds(0));
    if (begin) return;
    (void)self->pool_.PostAfter(pause, [weak, ready = std::move(ready), pause]() mutable {
      if (const auto again = weak.lock()) again->Start(std::move(ready), pause);
    });
  });
}

// The timer holds no reference, so that a long delay keeps nothing alive.
void PoolWorkers::Call(nanoseconds after) {
  if (after > nanoseconds(0)) {
    (void)pool_.PostAfter(after, [weak = weak_from_this()] {
      if (const auto self = weak.lock()) self->Call(nanoseconds(0));
    });
    return;
  }
  {
    const auto state = state_.Lock();
    if (state->stopped) return;
    if (!state->started) {
      state->early = std::min(state->early + 1, max_);
      return;
    }
    if (state->called >= max_) {
      state->again = true;
      return;
    }
    ++state->called;
  }
  pool_.Post([weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->Run();
  });
}

void PoolWorkers::Stop() {
  auto state = state_.Lock();
  state->stopped = true;
  state.Wait([&state] { return state->inside == 0; });
}

bool PoolWorkers::Enter() {
  const auto state = state_.Lock();
  if (state->stopped) return false;
  ++state->inside;
  return true;
}

std::size_t PoolWorkers::Begin() {
  const auto state = state_.Lock();
  state->started = true;
  return state->early;
}

void PoolWorkers::Leave() {
  --state_.Lock()->inside;
  state_.NotifyAll();
}

void PoolWorkers::Run() {
  if (!Enter()) return;
  do {
    while (turn_()) {
    }
  } while (!Rest());
  Leave();
}

// Under the lock of Call(), so that no call falls between a worker's last look and its leaving.
bool PoolWorkers::Rest() {
  const auto state = state_.Lock();
  if (std::exchange(state->again, false) && !state->stopped) return false;
  --state->called;
  return true;
}

}  // namespace apiserver::v0::controller
