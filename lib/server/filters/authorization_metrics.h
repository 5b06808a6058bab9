#pragma once

#include <chrono>
#include <cstddef>

#include "apiserver/auth/authorizer.h"
#include "apiserver/base/metrics.h"
#include "apiserver/base/status.h"

namespace apiserver::inline v0::server {

// The metrics of authorization: k8s.io/apiserver/pkg/endpoints/filters/metrics.go. Any thread.
class AuthorizationMetrics {
 public:
  // `registry` must outlive it.
  explicit AuthorizationMetrics(metrics::Registry& registry);
  void Count(const Result<auth::Verdict>& verdict, std::chrono::nanoseconds took) const;

 private:
  static constexpr std::size_t kResults = 4;

  metrics::Counter* attempts_[kResults];
  metrics::Histogram* durations_[kResults];
};

}  // namespace apiserver::inline v0::server
