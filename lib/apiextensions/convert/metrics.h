#pragma once

#include <chrono>
#include <optional>
#include <string_view>

#include "apiextensions/convert/review.h"
#include "apiserver/base/metrics.h"

namespace apiserver::inline v0::apiextensions {

// The metrics of calls of conversion webhooks, with the names and buckets of
// apiextensions-apiserver/pkg/apiserver/conversion/metrics.go. Any thread.
class ConversionMetrics {
 public:
  // `registry` must outlive it.
  explicit ConversionMetrics(metrics::Registry& registry);

  // One call that has ended.
  struct Call {
    std::string_view crd;  // "foos.example.com".
    std::string_view from_version;
    std::string_view to_version;
    std::optional<ConversionFailure> failure = std::nullopt;  // nullopt: it succeeded.
    std::chrono::nanoseconds took{0};
  };
  void Observe(const Call& call);

 private:
  metrics::Family<metrics::Counter>& requests_;
  metrics::Family<metrics::Histogram>& durations_;
  metrics::Family<metrics::Histogram>& crd_durations_;
};

}  // namespace apiserver::inline v0::apiextensions
