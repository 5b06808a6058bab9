#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "admission/policy_metrics.h"
#include "apiserver/admission/admission.h"
#include "apiserver/base/clock.h"
#include "apiserver/base/metrics.h"

namespace apiserver::inline v0::admission {

enum class Step : std::uint8_t { kAdmit, kValidate };

// The outcome of one webhook call.
struct WebhookOutcome {
  // Kubernetes' names for the cause of a rejection.
  enum class Error : std::uint8_t { kNone, kCallingWebhook, kInternal };

  std::string_view webhook;
  std::string_view type;  // "admit" or "validating".
  Operation operation = Operation::kCreate;
  int code = 200;  // The HTTP code of the answer; 0: it has none.
  bool rejected = false;
  Error error = Error::kNone;
  std::chrono::nanoseconds took{0};
};

// The metrics apiserver_admission_* and apiserver_{validating,mutating}_admission_policy_*, with
// the names and buckets of pkg/admission/metrics. Any thread.
class Metrics {
 public:
  Metrics(metrics::Registry& registry, const Clock& clock);

  const Clock& clock() const { return clock_; }
  void ObserveStep(Step step, Operation operation, bool rejected, std::chrono::nanoseconds took);
  void ObservePlugin(std::string_view plugin, Step step, Operation operation, bool rejected,
                     std::chrono::nanoseconds took);
  void ObserveWebhook(const WebhookOutcome& outcome);
  void ObserveFailOpen(std::string_view webhook, std::string_view type);
  PolicyMetrics& policies() { return policies_; }

 private:
  const Clock& clock_;
  metrics::Family<metrics::Histogram>& steps_;
  metrics::Family<metrics::Histogram>& plugins_;
  metrics::Family<metrics::Histogram>& webhooks_;
  metrics::Family<metrics::Counter>& rejections_;
  metrics::Family<metrics::Counter>& fail_open_;
  metrics::Family<metrics::Counter>& requests_;
  PolicyMetrics policies_;
};

// Measures one plugin, or a whole phase if it has no name.
class PluginTimer {
 public:
  PluginTimer(Metrics* metrics, std::string_view plugin, Step step)
      : metrics_(metrics), plugin_(plugin), step_(step) {
    if (metrics_) began_ = metrics_->clock().Now();
  }
  void Observe(Operation operation, bool rejected) const;

 private:
  Metrics* metrics_;
  std::string_view plugin_;
  Step step_;
  Clock::Monotonic began_;
};

}  // namespace apiserver::inline v0::admission
