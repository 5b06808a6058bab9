#pragma once

#include <algorithm>
#include <chrono>
#include <optional>

#include "apiserver/base/clock.h"
#include "apiserver/base/sync.h"

namespace apiserver::inline v0::authz {

// A token bucket: a number of tokens a second, and a burst of them after a pause. Any thread.
class RateLimit {
 public:
  // `qps` zero: no limit.
  RateLimit(double qps, int burst, const Clock& clock)
      : qps_(qps), burst_(std::max(burst, 1)), clock_(clock), state_(State{double(burst_), {}}) {}

  // Takes a token and returns the time until it may be used. nullopt: that is longer than `most`,
  // and none is taken.
  std::optional<std::chrono::nanoseconds> Take(std::chrono::nanoseconds most) {
    if (qps_ <= 0) return std::chrono::nanoseconds(0);
    const auto now = clock_.Now();
    const auto state = state_.Lock();
    const double passed = std::chrono::duration<double>(now - state->at).count();
    const double tokens = std::min<double>(burst_, state->tokens + passed * qps_) - 1;
    const std::chrono::duration<double> wait(tokens < 0 ? -tokens / qps_ : 0);
    if (wait > most) return std::nullopt;
    *state = {tokens, now};
    return std::chrono::duration_cast<std::chrono::nanoseconds>(wait);
  }

 private:
  struct State {
    double tokens;  // Below zero: promised to callers that wait.
    Clock::Monotonic at;
  };
  const double qps_;
  const int burst_;
  const Clock& clock_;
  Guarded<State> state_;
};

}  // namespace apiserver::inline v0::authz
