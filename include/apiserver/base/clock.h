#pragma once

#include <chrono>

namespace apiserver::inline v0 {

// The source of time. The library uses no other, so a test controls time by passing its own Clock.
// All methods may be called from any thread and must not block.
class Clock {
 public:
  using Monotonic = std::chrono::steady_clock::time_point;
  using Wall = std::chrono::system_clock::time_point;

  virtual ~Clock() = default;

  // Returns the time for deadlines and durations; it never goes back.
  virtual Monotonic Now() const = 0;
  // Returns the time for timestamps that people and clients read; it may jump.
  virtual Wall WallNow() const = 0;
  // The same to within 20 milliseconds, for less: to check whether something has expired.
  virtual Wall CoarseWallNow() const { return WallNow(); }
};

// The machine's clock. Lives as long as the process; stateless.
const Clock& RealClock();

}  // namespace apiserver::inline v0
