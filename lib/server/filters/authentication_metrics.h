#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <string_view>

#include "apiserver/base/metrics.h"

namespace apiserver::inline v0::server {

enum class AuthenticationResult { kSuccess, kFailure, kError };

// What is told of authentication: k8s.io/apiserver/pkg/endpoints/filters/metrics.go. Any thread.
class AuthenticationMetrics {
 public:
  // `registry` outlives it.
  explicit AuthenticationMetrics(metrics::Registry& registry);
  // `username` counts on success; only what kind of name it is, is shown.
  void Count(AuthenticationResult result, std::string_view username,
             std::chrono::nanoseconds took) const;

 private:
  static constexpr std::size_t kResults = 3;

  metrics::Family<metrics::Counter>& users_;
  metrics::Counter* attempts_[kResults];
  metrics::Histogram* durations_[kResults];
  // Of users_, for most requests.
  metrics::Counter* others_;
  mutable std::atomic<metrics::Counter*> emails_{nullptr};  // Shown once there is one.
};

// Names of people and tenants are kept out of the metrics: known internal ones stay, those with an
// @ are "email_id", the rest "other".
std::string_view CompressUsername(std::string_view username);

}  // namespace apiserver::inline v0::server
