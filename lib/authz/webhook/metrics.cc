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

MatchConditionMetrics::MatchConditionMetrics(metrics::Registry* registry, std::string name)
    : name_(std::move(name)) {
  if (registry == nullptr) return;
  const std::string prefix = "apiserver_authorization_match_condition_";
  errors_ = &registry->Counters(
      {prefix + "evaluation_errors_total",
       "[ALPHA] Total number of errors when an authorization webhook encounters a match condition "
       "error split by authorizer type and name.",
       {"type", "name"}});
  exclusions_ = &registry->Counters(
      {prefix + "exclusions_total",
       "[ALPHA] Total number of exclusions when an authorization webhook is skipped because match "
       "conditions exclude it.",
       {"type", "name"}});
  durations_ = &registry->Histograms(
      {prefix + "evaluation_seconds",
       "[ALPHA] Authorization match condition evaluation time in seconds, split by authorizer type "
       "and name.",
       {"type", "name"}},
      {0.001, 0.005, 0.01, 0.025, 0.1, 0.2, 0.25});
}

void MatchConditionMetrics::Evaluated(std::chrono::nanoseconds took,
                                      const Result<bool>& matches) const {
  if (durations_ == nullptr) return;
  durations_->With({"Webhook", name_}).Observe(std::chrono::duration<double>(took).count());
  if (!matches.ok()) {
    errors_->With({"Webhook", name_}).Add();
  } else if (!*matches) {
    exclusions_->With({"Webhook", name_}).Add();
  }
}

}  // namespace apiserver::v0::authz
