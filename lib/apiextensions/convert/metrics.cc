#include "apiextensions/convert/metrics.h"

namespace apiserver::v0::apiextensions {

ConversionMetrics::ConversionMetrics(metrics::Registry& registry)
    : requests_(registry.Counters(
          {.name = "apiserver_conversion_webhook_request_total",
           .help = "[ALPHA] Counter for conversion webhook requests with success/failure and "
                   "failure error type",
           .labels = {"result", "failure_type"}})),
      durations_(registry.Histograms(
          {.name = "apiserver_conversion_webhook_duration_seconds",
           .help = "[ALPHA] Conversion webhook request latency",
           .labels = {"result", "failure_type"}},
          {0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30, 45, 60})),
      crd_durations_(
          registry.Histograms({.name = "apiserver_crd_conversion_webhook_duration_seconds",
                               .help = "[ALPHA] CRD webhook conversion duration in seconds",
                               .labels = {"crd_name", "from_version", "to_version", "succeeded"}},
                              metrics::ExponentialBuckets(0.001, 2, 15))) {}

void ConversionMetrics::Observe(const Call& call) {
  const std::string_view result = call.failure ? "failure" : "success";
  const std::string_view type = call.failure ? FailureTypeName(*call.failure) : "";
  const double seconds = std::chrono::duration<double>(call.took).count();
  requests_.With({result, type}).Add();
  durations_.With({result, type}).Observe(seconds);
  crd_durations_
      .With({call.crd, call.from_version, call.to_version, call.failure ? "false" : "true"})
      .Observe(seconds);
}

}  // namespace apiserver::v0::apiextensions
