#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

#include "apiserver/base/clock.h"

namespace apiserver::inline v0::testing {

// A clock that stands still until a test moves it. Any thread.
class FakeClock final : public Clock {
 public:
  // `start`: the first value of WallNow(); the monotonic clock starts at the same offset from its
  // epoch.
  explicit FakeClock(Wall start = Wall(std::chrono::seconds(1'600'000'000)))
      : nanoseconds_(std::chrono::duration_cast<std::chrono::nanoseconds>(start.time_since_epoch())
                         .count()) {}

  Monotonic Now() const override { return Monotonic(std::chrono::nanoseconds(nanoseconds_)); }
  Wall WallNow() const override {
    return Wall(std::chrono::duration_cast<Wall::duration>(std::chrono::nanoseconds(nanoseconds_)));
  }
  // Moves both clocks forward; wakes no waiter.
  void Advance(std::chrono::nanoseconds by) { nanoseconds_ += by.count(); }

 private:
  std::atomic<std::int64_t> nanoseconds_;
};

}  // namespace apiserver::inline v0::testing
