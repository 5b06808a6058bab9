#include "apiserver/controller/rate_limiter.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "apiserver/base/sync.h"

namespace apiserver::v0::controller {
namespace {

using std::chrono::nanoseconds;

class ControllerRateLimiter final : public RateLimiter {
 public:
  explicit ControllerRateLimiter(const RateLimiterOptions& options)
      : options_(options),
        state_(State{.failures = {}, .tokens = options.burst, .last = options.clock->Now()}) {}

  nanoseconds When(const NamespacedName& key) override {
    const auto state = state_.Lock();
    const nanoseconds own = Backoff(state->failures[key]++);
    return std::max(own, Reserve(*state));
  }
  void Forget(const NamespacedName& key) override { state_.Lock()->failures.erase(key); }
  int Requeues(const NamespacedName& key) const override {
    const auto state = state_.Lock();
    const auto at = state->failures.find(key);
    return at == state->failures.end() ? 0 : at->second;
  }

 private:
  struct State {
    std::unordered_map<NamespacedName, int, NamespacedNameHash> failures;
    double tokens;  // Below zero: so many have been promised.
    Clock::Monotonic last;
  };

  // In floating point, which does not overflow.
  nanoseconds Backoff(int failures) const {
    const double wait = std::ldexp(static_cast<double>(options_.base.count()), failures);
    const bool longest = wait >= static_cast<double>(options_.max.count());
    return longest ? options_.max : nanoseconds(static_cast<nanoseconds::rep>(wait));
  }

  // Takes a token, which may come only later; returns when.
  nanoseconds Reserve(State& state) const {
    if (options_.per_second <= 0) return nanoseconds(0);
    const Clock::Monotonic now = options_.clock->Now();
    const std::chrono::duration<double> elapsed = now - state.last;
    state.last = now;
    state.tokens =
        std::min(options_.burst, state.tokens + elapsed.count() * options_.per_second) - 1;
    if (state.tokens >= 0) return nanoseconds(0);
    const std::chrono::duration<double> wait(-state.tokens / options_.per_second);
    return std::chrono::duration_cast<nanoseconds>(wait);
  }

  const RateLimiterOptions options_;
  Guarded<State> state_;
};

}  // namespace

std::unique_ptr<RateLimiter> NewRateLimiter(RateLimiterOptions options) {
  return std::make_unique<ControllerRateLimiter>(options);
}

}  // namespace apiserver::v0::controller
