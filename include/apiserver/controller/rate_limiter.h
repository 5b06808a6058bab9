#pragma once

#include <chrono>
#include <memory>

#include "apiserver/base/clock.h"
#include "apiserver/controller/namespaced_name.h"

namespace apiserver::inline v0::controller {

// Says how long a key waits before it is worked on again: k8s.io/client-go/util/workqueue's
// TypedRateLimiter. All methods may be called from any thread, loops included.
class RateLimiter {
 public:
  virtual ~RateLimiter() = default;

  // Counts one more failure of `key`, and returns how long it should wait for its next turn.
  virtual std::chrono::nanoseconds When(const NamespacedName& key) = 0;
  // Forgets the failures of `key`: it has succeeded, or is given up.
  virtual void Forget(const NamespacedName& key) = 0;
  // Returns how often `key` has failed since it was last forgotten.
  virtual int Requeues(const NamespacedName& key) const = 0;
};

// Limits of NewRateLimiter(). The defaults are those of client-go's controllers.
struct RateLimiterOptions {
  // The wait after the first failure of a key, doubled by each further one, up to the maximum.
  std::chrono::nanoseconds base = std::chrono::milliseconds(5);
  std::chrono::nanoseconds max = std::chrono::seconds(1000);
  // Retries a second of all keys together, once `burst` retries have had no wait. Zero: no limit.
  double per_second = 10;
  double burst = 100;
  // Outlives the limiter.
  const Clock* clock = &RealClock();
};

// Returns client-go's DefaultTypedControllerRateLimiter: a key waits for the longer of its own
// time, which grows with its failures, and the time at which the token bucket of all keys has one
// for it.
std::unique_ptr<RateLimiter> NewRateLimiter(RateLimiterOptions options = {});

}  // namespace apiserver::inline v0::controller
