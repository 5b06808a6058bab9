#include "admission/metrics.h"

#include <algorithm>
#include <vector>

namespace apiserver::v0::admission {

namespace {

// Limits the codes, so that a webhook cannot make new series.
constexpr int kCodeMax = 600;

// The buckets, names and texts are upstream's: dashboards depend on them.
const std::vector<double>& StepBuckets() {
  static const std::vector<double> buckets{0.005, 0.025, 0.1, 0.5, 1.0, 2.5};
  return buckets;
}

std::string_view StepName(Step step) { return step == Step::kAdmit ? "admit" : "validate"; }
std::string_view BoolName(bool value) { return value ? "true" : "false"; }
std::string CodeName(int code) { return std::to_string(std::min(code, kCodeMax)); }

std::string_view RejectionName(WebhookOutcome::Error error) {
  switch (error) {
    // The names are upstream's label values.
    case WebhookOutcome::Error::kCallingWebhook:
      return "calling_webhook_error";
    case WebhookOutcome::Error::kInternal:
      return "apiserver_internal_error";
    case WebhookOutcome::Error::kNone:
      break;
  }
  return "no_error";
}

double Seconds(std::chrono::nanoseconds took) {
  return std::chrono::duration<double>(took).count();
}

}  // namespace

Metrics::Metrics(metrics::Registry& registry, const Clock& clock, std::size_t plugins)
    : clock_(clock),
      steps_(registry.Histograms(
          {.name = "apiserver_admission_step_admission_duration_seconds",
           .help = "[STABLE] Admission sub-step latency histogram in seconds, broken out for each "
                   "operation and API resource and step type (validate or admit).",
           .labels = {"type", "operation", "rejected"}},
          StepBuckets())),
      plugins_(registry.Histograms(
          {.name = "apiserver_admission_controller_admission_duration_seconds",
           .help = "[STABLE] Admission controller latency histogram in seconds, identified by name "
                   "and broken out for each operation and API resource and type (validate or "
                   "admit).",
           .labels = {"name", "type", "operation", "rejected"}},
          StepBuckets())),
      plugin_series_(plugins),
      webhooks_(registry.Histograms(
          {.name = "apiserver_admission_webhook_admission_duration_seconds",
           .help = "[STABLE] Admission webhook latency histogram in seconds, identified by name "
                   "and broken out for each operation and API resource and type (validate or "
                   "admit).",
           .labels = {"name", "type", "operation", "rejected"}},
          {0.005, 0.025, 0.1, 0.5, 1.0, 2.5, 10, 25})),
      rejections_(registry.Counters(
          {.name = "apiserver_admission_webhook_rejection_count",
           .help = "[ALPHA] Admission webhook rejection count, identified by name and broken out "
                   "for each admission type (validating or admit) and operation. Additional labels "
                   "specify an error type (calling_webhook_error or apiserver_internal_error if an "
                   "error occurred; no_error otherwise) and optionally a non-zero rejection code "
                   "if the webhook rejects the request with an HTTP status code (honored by the "
                   "apiserver when the code is greater or equal to 400). Codes greater than 600 "
                   "are truncated to 600, to keep the metrics cardinality bounded.",
           .labels = {"name", "type", "operation", "error_type", "rejection_code"}})),
      fail_open_(registry.Counters(
          {.name = "apiserver_admission_webhook_fail_open_count",
           .help = "[ALPHA] Admission webhook fail open count, identified by name and broken out "
                   "for each admission type (validating or admit).",
           .labels = {"name", "type"}})),
      requests_(registry.Counters(
          {.name = "apiserver_admission_webhook_request_total",
           .help = "[ALPHA] Admission webhook request total, identified by name and broken out for "
                   "each admission type (validating or admit) and operation. Additional labels "
                   "specify whether the request was rejected or not and an HTTP status code. Codes "
                   "greater than 600 are truncated to 600, to keep the metrics cardinality "
                   "bounded.",
           .labels = {"name", "type", "operation", "code", "rejected"}})),
      policies_(registry) {}

void Metrics::ObserveStep(Step step, Operation operation, bool rejected,
                          std::chrono::nanoseconds took) {
  step_series_
      .Get(step, operation, rejected,
           [&]() -> metrics::Histogram& {
             return steps_.With({StepName(step), OperationName(operation), BoolName(rejected)});
           })
      .Observe(Seconds(took));
}

void Metrics::ObservePlugin(const PluginPlace& plugin, Step step, Operation operation,
                            bool rejected, std::chrono::nanoseconds took) {
  plugin_series_[plugin.index]
      .Get(step, operation, rejected,
           [&]() -> metrics::Histogram& {
             return plugins_.With(
                 {plugin.name, StepName(step), OperationName(operation), BoolName(rejected)});
           })
      .Observe(Seconds(took));
}

void Metrics::ObserveWebhook(const WebhookOutcome& outcome) {
  const std::string_view operation = OperationName(outcome.operation);
  const std::string_view rejected = BoolName(outcome.rejected);
  const std::string code = CodeName(outcome.code);
  // A rejection has a code and a reason, and is also counted as a request below.
  if (outcome.rejected) {
    rejections_.With({outcome.webhook, outcome.type, operation, RejectionName(outcome.error), code})
        .Add();
  }
  requests_.With({outcome.webhook, outcome.type, operation, code, rejected}).Add();
  webhooks_.With({outcome.webhook, outcome.type, operation, rejected})
      .Observe(Seconds(outcome.took));
}

void Metrics::ObserveFailOpen(std::string_view webhook, std::string_view type) {
  fail_open_.With({webhook, type}).Add();
}

void PluginTimer::Observe(Operation operation, bool rejected) const {
  if (!metrics_) return;
  const std::chrono::nanoseconds took = metrics_->clock().Now() - began_;
  // A timer without a name measures the whole phase.
  if (plugin_.name.empty()) return metrics_->ObserveStep(step_, operation, rejected, took);
  metrics_->ObservePlugin(plugin_, step_, operation, rejected, took);
}

}  // namespace apiserver::v0::admission
