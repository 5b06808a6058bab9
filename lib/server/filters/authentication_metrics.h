#pragma once

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

 private:
  static constexpr std::size_t kResults = 3;

  metrics::Family<metrics::Counter>& users_;
  metrics::Counter* attempts_[kResults];
  metrics::Histogram* durations_[kResults];
  // The counter of users_ for most requests.
  metrics::Counter* others_;
  mutable std::atomic<metrics::Counter*> emails_{nullptr};  // Exported once there is one.
};

// Returns the label for a user: names of people and tenants are kept out of the metrics. Known
// internal names stay, those with an @ are "email_id", the rest "other".
std::string_view CompressUsername(std::string_view username);

}  // namespace apiserver::inline v0::server
