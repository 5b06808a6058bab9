#pragma once

#include <chrono>
#include <string_view>

#include "apiserver/base/metrics.h"

namespace apiserver::inline v0::authn {

// Metrics of token reviews, under upstream's names: token/cache/stats.go and
// authenticatorfactory/metrics.go. Any thread.
class TokenReviewMetrics {
 public:
  // Null: nothing is counted.
  explicit TokenReviewMetrics(metrics::Registry* registry);

  // Counts a request with its result, from the cache or not.
  void Requested(bool hit, std::chrono::nanoseconds took) const;
  void FetchBegins() const;
  void FetchEnds(bool ok) const;
  // Counts a call by the code of the response; "<error>": there was none.
  void Called(std::string_view code, std::chrono::nanoseconds took) const;

 private:
  metrics::Family<metrics::Counter>* requests_ = nullptr;
  metrics::Family<metrics::Histogram>* request_durations_ = nullptr;
  metrics::Family<metrics::Counter>* fetches_ = nullptr;
  metrics::Family<metrics::Gauge>* active_ = nullptr;
  metrics::Family<metrics::Counter>* calls_ = nullptr;
  metrics::Family<metrics::Histogram>* call_durations_ = nullptr;
};

}  // namespace apiserver::inline v0::authn
