#pragma once

#include "apiserver/base/clock.h"

namespace apiserver::inline v0::flowcontrol {

// Statistics of a value over time. average and deviation are NaN if no time has passed.
struct IntegratorResults {
  double duration = 0;   // Seconds.
  double average = 0;    // Weighted by time.
  double deviation = 0;  // The standard deviation.
  double min = 0;
  double max = 0;
};

// Integrates one value: k8s.io/apiserver/pkg/util/flowcontrol/fairqueuing.Integrator. Not
// thread-safe: its owner has a lock already.
class Integrator final {
 public:
  explicit Integrator(Clock::Monotonic now) : last_(now) {}

  void Set(Clock::Monotonic now, double value);
  void Add(Clock::Monotonic now, double delta) { Set(now, value_ + delta); }
  // Returns the statistics since the last Reset.
  IntegratorResults Results(Clock::Monotonic now);
  // Returns the statistics, and starts over from the present value.
  IntegratorResults Reset(Clock::Monotonic now);

 private:
  void AdvanceTo(Clock::Monotonic now);

  Clock::Monotonic last_;
  double value_ = 0;
  double min_ = 0;
  double max_ = 0;
  double seconds_ = 0;
  double integral_ = 0;          // The integral of value dt.
  double integral_squares_ = 0;  // The integral of value * value dt.
};

}  // namespace apiserver::inline v0::flowcontrol
