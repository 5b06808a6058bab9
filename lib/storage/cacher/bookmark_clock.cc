#include "storage/cacher/bookmark_clock.h"

#include <utility>
#include <vector>

namespace apiserver::v0::storage::cacher {

BookmarkClock::Ticket::~Ticket() { clock_.state_.Lock()->due.erase({due_, this}); }

void BookmarkClock::Ticket::Set(Clock::Monotonic due, const Waker& waker) {
  if (waker.empty() || (due == due_ && waker.home() == home_)) return;
  bool start = false;
  {
    auto state = clock_.state_.Lock();
    state->due.erase({due_, this});
    state->due.emplace(std::pair(due, this), waker);
    start = !std::exchange(state->running, true) && !state->stopped;
  }
  due_ = due;
  home_ = waker.home();
  if (start) clock_.Start();
}

// Ticks only while a bookmark is due some time: a clock without watches has no timer.
void BookmarkClock::Start() {
  if (executor_ == nullptr) return;
  auto cancel = executor_->PostAfter(kTick, [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->Tick();
  });
  state_.Lock()->cancel = std::move(cancel);
}

void BookmarkClock::Tick() {
  std::vector<Waker> wakers;
  bool again = false;
  {
    auto state = state_.Lock();
    const Clock::Monotonic now = clock_.Now();
    while (!state->due.empty() && state->due.begin()->first.first <= now) {
      wakers.push_back(std::move(state->due.begin()->second));
      state->due.erase(state->due.begin());
    }
    again = state->running = !state->due.empty() && !state->stopped;
  }
  // Woken without the lock: watches set their tickets again at once.
  Waker::WakeAll(wakers);
  if (again) Start();
}

void BookmarkClock::Stop() {
  Executor::Cancel cancel;
  {
    auto state = state_.Lock();
    state->stopped = true;
    state->due.clear();
    cancel = std::move(state->cancel);
  }
  if (cancel) cancel();
}

}  // namespace apiserver::v0::storage::cacher
