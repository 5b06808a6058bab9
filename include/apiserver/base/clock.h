#pragma once

#include <chrono>

namespace apiserver::inline v0 {

// Where time comes from. The library asks no other: a test owns time by passing its own. All
// methods may be called from any thread.
class Clock {
 public:
  using Monotonic = std::chrono::steady_clock::time_point;
  using Wall = std::chrono::system_clock::time_point;

  virtual ~Clock() = default;

  // For deadlines and durations; never goes back.
  virtual Monotonic Now() const = 0;
  // For timestamps that people and clients read; may jump.
  virtual Wall WallNow() const = 0;
};

// The machine's clock. Lives as long as the process; stateless.
const Clock& RealClock();

}  // namespace apiserver::inline v0
