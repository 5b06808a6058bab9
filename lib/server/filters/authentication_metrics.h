#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <string_view>

#include "apiserver/base/metrics.h"

namespace apiserver::inline v0::server {

enum class AuthenticationResult { kSuccess, kFailure, kError };

// The metrics of authentication: k8s.io/apiserver/pkg/endpoints/filters/metrics.go. Any thread.
class AuthenticationMetrics {
 public:
  // `registry` must outlive it.
  explicit AuthenticationMetrics(metrics::Registry& registry);
  // Counts one attempt. `username` is used on success; only the kind of name is exported.
  void Count(AuthenticationResult result, std::string_view username,
             std::chrono::nanoseconds took) const;

  // The number of internal users whose names are exported.
  static constexpr std::size_t kKnownUsers = 5;

 private:
  static constexpr std::size_t kResults = 3;

  metrics::Family<metrics::Counter>& users_;
  metrics::Counter* attempts_[kResults];
  metrics::Histogram* durations_[kResults];
  // The counter of users_ for most requests.
  metrics::Counter* others_;
  // Those of known users, and the one of users with an @. Null: not exported before there is one.
  mutable std::array<std::atomic<metrics::Counter*>, kKnownUsers + 1> shown_{};
};

// Returns the label for a user: names of people and tenants are kept out of the metrics. Known
// internal names stay, those with an @ are "email_id", the rest "other".
std::string_view CompressUsername(std::string_view username);

}  // namespace apiserver::inline v0::server
