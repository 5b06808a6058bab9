#pragma once

#include <atomic>
#include <chrono>
#include <memory>

#include "apiserver/base/clock.h"
#include "apiserver/base/executor.h"
#include "apiserver/base/function.h"

namespace apiserver::inline v0::proxy {

// Tells when nothing has happened for a time. Used on the loop given to Start, but for Touch.
class IdleWatch {
 public:
  // Tells that something has happened. Any thread.
  void Touch() { last_->store(Now()); }
  // Calls `on_idle` on `loop` once nothing has happened for `timeout`. Zero: never. Called once.
  void Start(Executor& loop, std::chrono::nanoseconds timeout, UniqueFunction<void()> on_idle) {
    if (timeout.count() == 0) return;
    Touch();
    watch_ = std::make_shared<Watch>(Watch{loop, timeout, last_, std::move(on_idle), {}});
    Wait(watch_);
  }
  // Lets `on_idle` not be called any more.
  void Stop() {
    if (watch_ == nullptr) return;
    watch_->cancel();
    watch_.reset();
  }

 private:
  using Ticks = Clock::Monotonic::rep;
  struct Watch {
    Executor& loop;
    const std::chrono::nanoseconds timeout;
    const std::shared_ptr<std::atomic<Ticks>> last;
    UniqueFunction<void()> on_idle;
    Executor::Cancel cancel;
  };

  static Ticks Now() { return RealClock().Now().time_since_epoch().count(); }
  static void Wait(const std::shared_ptr<Watch>& watch) {
    const Clock::Monotonic last{Clock::Monotonic::duration(watch->last->load())};
    const std::chrono::nanoseconds left = last + watch->timeout - RealClock().Now();
    watch->cancel = watch->loop.PostAfter(left, [weak = std::weak_ptr(watch)] {
      const auto self = weak.lock();
      if (self == nullptr) return;
      const Clock::Monotonic touched{Clock::Monotonic::duration(self->last->load())};
      if (touched + self->timeout > RealClock().Now()) return Wait(self);
      self->on_idle();
    });
  }

  const std::shared_ptr<std::atomic<Ticks>> last_ = std::make_shared<std::atomic<Ticks>>(Now());
  std::shared_ptr<Watch> watch_;
};

}  // namespace apiserver::inline v0::proxy
