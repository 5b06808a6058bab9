#include "storage/cacher/fresh_waiters.h"

#include <utility>
#include <vector>

namespace apiserver::v0::storage::cacher {

void FreshWaiters::Add(kv::Revision revision, Done done, std::chrono::milliseconds wait) {
  if (cache_->revision() >= revision) return done({});
  const Entered entered = Enter(revision, done, wait);
  if (entered == Entered::kNot) {
    return done({Reason::kServiceUnavailable, "the watch cache is stopped"});
  }
  // The waiter is counted before the revision is read: either this or Advance() sees the other.
  Advance(cache_->revision());
  if (entered == Entered::kFirst) TickLater();
  if (count_.load() > 0) AskSoon();
}

FreshWaiters::Entered FreshWaiters::Enter(kv::Revision revision, Done& done,
                                          std::chrono::milliseconds wait) {
  auto state = state_.Lock();
  if (state->stopped) return Entered::kNot;
  // Uses the machine's clock, as reads that wait on a thread do.
  const Clock::Monotonic deadline = RealClock().Now() + wait;
  state->waiting.emplace(revision, Waiter{deadline, std::move(done)});
  count_.store(state->waiting.size());
  return std::exchange(state->running, true) ? Entered::kAnother : Entered::kFirst;
}

void FreshWaiters::Advance(kv::Revision revision) {
  if (count_.load() == 0) return;
  std::vector<Done> seen;
  {
    auto state = state_.Lock();
    const auto end = state->waiting.upper_bound(revision);
    for (auto next = state->waiting.begin(); next != end; ++next) {
      seen.push_back(std::move(next->second.done));
    }
    state->waiting.erase(state->waiting.begin(), end);
    count_.store(state->waiting.size());
  }
  // Called outside of the lock, since a `done` may call Add().
  for (Done& done : seen) done({});
}

// Asks on the executor, not on the thread that reported the revision, which is the engine's; one
// task serves all that come meanwhile.
void FreshWaiters::AskSoon() {
  if (asked_.exchange(true)) return;
  executor_->Post([weak = weak_from_this()] {
    const auto self = weak.lock();
    if (self == nullptr) return;
    self->asked_.store(false);
    if (const auto pass = self->asking_.Enter()) self->ask_();
  });
}

void FreshWaiters::Tick() {
  std::vector<Done> late;
  bool again = false;
  {
    auto state = state_.Lock();
    const Clock::Monotonic now = RealClock().Now();
    for (auto next = state->waiting.begin(); next != state->waiting.end();) {
      if (next->second.deadline > now) {
        ++next;
        continue;
      }
      late.push_back(std::move(next->second.done));
      next = state->waiting.erase(next);
    }
    count_.store(state->waiting.size());
    again = state->running = !state->waiting.empty() && !state->stopped;
  }
  for (Done& done : late) done({Reason::kTimeout, "the watch cache is behind"});
  if (!again) return;
  AskSoon();
  TickLater();
}

void FreshWaiters::TickLater() {
  auto cancel = executor_->PostAfter(kAskAgain, [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->Tick();
  });
  auto state = state_.Lock();
  if (!state->stopped) state->cancel = std::move(cancel);
}

void FreshWaiters::Stop() {
  Executor::Cancel cancel;
  std::multimap<kv::Revision, Waiter> left;
  {
    auto state = state_.Lock();
    state->stopped = true;
    left.swap(state->waiting);
    count_.store(0);
    cancel = std::move(state->cancel);
  }
  if (cancel) cancel();
  // Waits for a running ask_(), which uses the engine that the owner may stop next.
  asking_.Shut();
  for (auto& [revision, waiter] : left) {
    waiter.done({Reason::kServiceUnavailable, "the watch cache is stopped"});
  }
}

}  // namespace apiserver::v0::storage::cacher
