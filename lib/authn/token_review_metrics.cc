#include "authn/token_review_metrics.h"

namespace apiserver::v0::authn {
namespace {

double Seconds(std::chrono::nanoseconds time) {
  return std::chrono::duration<double>(time).count();
}

}  // namespace

TokenReviewMetrics::TokenReviewMetrics(metrics::Registry* registry) {
  if (registry == nullptr) return;
  // The default buckets of Prometheus' Go client.
  const std::vector<double> buckets = {0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10};
  requests_ = &registry->Counters({.name = "authentication_token_cache_request_total",
                                   .help = "[ALPHA] ",
                                   .labels = {"status"}});
  request_durations_ =
      &registry->Histograms({.name = "authentication_token_cache_request_duration_seconds",
                             .help = "[ALPHA] ",
                             .labels = {"status"}},
                            buckets);
  fetches_ = &registry->Counters(
      {.name = "authentication_token_cache_fetch_total", .help = "[ALPHA] ", .labels = {"status"}});
  active_ = &registry->Gauges({.name = "authentication_token_cache_active_fetch_count",
                               .help = "[ALPHA] ",
                               .labels = {"status"}});
  calls_ =
      &registry->Counters({.name = "apiserver_delegated_authn_request_total",
                           .help = "[ALPHA] Number of HTTP requests partitioned by status code.",
                           .labels = {"code"}});
  call_durations_ = &registry->Histograms(
      {.name = "apiserver_delegated_authn_request_duration_seconds",
       .help = "[ALPHA] Request latency in seconds. Broken down by status code.",
       .labels = {"code"}},
      {0.25, 0.5, 0.7, 1, 1.5, 3, 5, 10});
}

void TokenReviewMetrics::Requested(bool hit, std::chrono::nanoseconds took) const {
  if (requests_ == nullptr) return;
  const std::string_view status = hit ? "hit" : "miss";
  requests_->With({status}).Add();
  request_durations_->With({status}).Observe(Seconds(took));
}

void TokenReviewMetrics::FetchBegins() const {
  if (active_ != nullptr) active_->With({"in_flight"}).Add();
}

void TokenReviewMetrics::FetchEnds(bool ok) const {
  if (active_ == nullptr) return;
  active_->With({"in_flight"}).Subtract();
  fetches_->With({ok ? "ok" : "error"}).Add();
}

void TokenReviewMetrics::Called(std::string_view code, std::chrono::nanoseconds took) const {
  if (calls_ == nullptr) return;
  calls_->With({code}).Add();
  call_durations_->With({code}).Observe(Seconds(took));
}

}  // namespace apiserver::v0::authn
