#include "authz/webhook/metrics.h"

#include <string_view>
#include <utility>

namespace apiserver::v0::authz {
namespace {

// The values of the label `result`. Upstream's "canceled" does not occur: no review has a request
// as its parent.
std::string_view ResultOf(const Status& error) {
  if (error.ok()) return "success";
  return error.reason() == Reason::kTimeout ? "timeout" : "error";
}

}  // namespace

WebhookMetrics::WebhookMetrics(metrics::Registry* registry, std::string name)
    : name_(std::move(name)) {
  if (registry == nullptr) return;
  if (name_.empty()) {
    requests_ = &registry->Counters({"apiserver_delegated_authz_request_total",
                                     "[ALPHA] Number of HTTP requests partitioned by status code.",
                                     {"code"}});
    durations_ =
        &registry->Histograms({"apiserver_delegated_authz_request_duration_seconds",
                               "[ALPHA] Request latency in seconds. Broken down by status code.",
                               {"code"}},
                              {0.25, 0.5, 0.7, 1, 1.5, 3, 5, 10});
    return;
  }
  requests_ = &registry->Counters({"apiserver_authorization_webhook_evaluations_total",
                                   "[ALPHA] Round-trips to authorization webhooks.",
                                   {"name", "result"}});
  durations_ = &registry->Histograms({"apiserver_authorization_webhook_duration_seconds",
                                      "[ALPHA] Request latency in seconds.",
                                      {"name", "result"}},
                                     {.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10});
  fail_open_ = &registry->Counters({"apiserver_authorization_webhook_evaluations_fail_open_total",
                                    "[ALPHA] NoOpinion results due to webhook timeout or error.",
                                    {"name", "result"}});
}

void WebhookMetrics::Attempted(const client::WebhookAttempt& attempt) const {
  if (requests_ == nullptr) return;
  const double seconds = std::chrono::duration<double>(attempt.latency).count();
  if (name_.empty()) {
    const std::string code = attempt.code == 0 ? "<error>" : std::to_string(attempt.code);
    requests_->With({code}).Add();
    durations_->With({code}).Observe(seconds);
    return;
  }
  const std::string_view result = ResultOf(attempt.error);
  requests_->With({name_, result}).Add();
  durations_->With({name_, result}).Observe(seconds);
}

void WebhookMetrics::FailedOpen(const Status& error) const {
  if (fail_open_ != nullptr) fail_open_->With({name_, ResultOf(error)}).Add();
}

}  // namespace apiserver::v0::authz
