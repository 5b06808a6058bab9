#pragma once

#include <algorithm>
#include <chrono>

#include "apiserver/base/clock.h"

namespace apiserver::inline v0::http {

// Limits events that a peer may cause now and then, but not all the time: `burst` at once, and
// `per_second` in the long run.
class TokenBucket final {
 public:
  // The bucket is full at first.
  TokenBucket(double burst, double per_second)
      : burst_(burst), per_second_(per_second), tokens_(burst) {}

  // Takes one token. False: there is none, and the peer has done it too often.
  bool Take(Clock::Monotonic now) {
    if (last_ != Clock::Monotonic()) {
      const std::chrono::duration<double> elapsed = now - last_;
      tokens_ = std::min(burst_, tokens_ + elapsed.count() * per_second_);
    }
    last_ = now;
    if (tokens_ < 1) return false;
    tokens_ -= 1;
    return true;
  }

 private:
  double burst_;
  double per_second_;
  double tokens_;
  Clock::Monotonic last_{};
};

}  // namespace apiserver::inline v0::http
