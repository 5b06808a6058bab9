#pragma once

#include <chrono>
#include <cstddef>

#include "apiserver/base/clock.h"
#include "apiserver/base/context.h"

namespace apiserver::inline v0::storage::store {

// Waits until `time` has passed or `ctx` is cancelled.
void WaitUnlessDone(const Context& ctx, std::chrono::milliseconds time);

// Spreads work over time. One thread.
class Pace {
 public:
  // `per_second_max`: what may be spent in a second. Zero: there is no limit.
  Pace(std::size_t per_second_max, const Clock& clock)
      : per_second_max_(per_second_max), clock_(clock) {}

  // Waits until `cost` may be spent. Returns early when `ctx` is cancelled.
  void Spend(const Context& ctx, std::size_t cost);

 private:
  const std::size_t per_second_max_;
  const Clock& clock_;
  Clock::Monotonic paid_until_;
};

}  // namespace apiserver::inline v0::storage::store
