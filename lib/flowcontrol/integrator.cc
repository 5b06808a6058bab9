#include "flowcontrol/integrator.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

namespace apiserver::v0::flowcontrol {

// Integrates over the time since the last change, during which the value was constant.
void Integrator::AdvanceTo(Clock::Monotonic now) {
  const double passed = std::chrono::duration<double>(now - last_).count();
  last_ = now;
  seconds_ += passed;
  integral_ += value_ * passed;
  integral_squares_ += value_ * value_ * passed;
}

void Integrator::Set(Clock::Monotonic now, double value) {
  AdvanceTo(now);
  value_ = value;
  min_ = std::min(min_, value);
  max_ = std::max(max_, value);
}

IntegratorResults Integrator::Results(Clock::Monotonic now) {
  AdvanceTo(now);
  IntegratorResults results{.duration = seconds_, .min = min_, .max = max_};
  if (seconds_ <= 0) {
    results.average = results.deviation = std::numeric_limits<double>::quiet_NaN();
    return results;
  }
  results.average = integral_ / seconds_;
  // Rounding can make the variance negative; its root is then NaN.
  results.deviation = std::sqrt(integral_squares_ / seconds_ - results.average * results.average);
  return results;
}

IntegratorResults Integrator::Reset(Clock::Monotonic now) {
  const IntegratorResults results = Results(now);
  seconds_ = integral_ = integral_squares_ = 0;
  min_ = max_ = value_;
  return results;
}

}  // namespace apiserver::v0::flowcontrol
