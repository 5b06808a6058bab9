#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

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

// The series of one plugin, or of a whole phase, in a family of durations: each is looked up once.
class DurationSeries {
 public:
  // `find` returns the series; it may be called more than once.
  template <typename Find>
  metrics::Histogram& Get(Step step, Operation operation, bool rejected, const Find& find) {
    auto& place = found_[(static_cast<std::size_t>(step) * kOperations +
                          static_cast<std::size_t>(operation)) *
                             2 +
                         (rejected ? 1 : 0)];
    metrics::Histogram* series = place.load(std::memory_order_acquire);
    if (series == nullptr) place.store(series = &find(), std::memory_order_release);
    return *series;
  }

 private:
  static constexpr std::size_t kSteps = 2;
  static constexpr std::size_t kOperations = 4;
  std::array<std::atomic<metrics::Histogram*>, kSteps * kOperations * 2> found_{};
};

// A plugin: its place in the chain, from 0 on, and its name.
struct PluginPlace {
  std::size_t index = 0;
  std::string_view name = {};
};

// The metrics apiserver_admission_* and apiserver_{validating,mutating}_admission_policy_*, with
// the names and buckets of pkg/admission/metrics. Any thread.
class Metrics {
 public:
  // For a chain of so many plugins.
  Metrics(metrics::Registry& registry, const Clock& clock, std::size_t plugins);

  const Clock& clock() const { return clock_; }
  void ObserveStep(Step step, Operation operation, bool rejected, std::chrono::nanoseconds took);
  void ObservePlugin(const PluginPlace& plugin, Step step, Operation operation, bool rejected,
                     std::chrono::nanoseconds took);
  void ObserveWebhook(const WebhookOutcome& outcome);
  void ObserveFailOpen(std::string_view webhook, std::string_view type);
  PolicyMetrics& policies() { return policies_; }

 private:
  const Clock& clock_;
  metrics::Family<metrics::Histogram>& steps_;
  metrics::Family<metrics::Histogram>& plugins_;
  DurationSeries step_series_;
  std::vector<DurationSeries> plugin_series_;
  metrics::Family<metrics::Histogram>& webhooks_;
  metrics::Family<metrics::Counter>& rejections_;
  metrics::Family<metrics::Counter>& fail_open_;
  metrics::Family<metrics::Counter>& requests_;
  PolicyMetrics policies_;
};

// Measures one plugin or a whole phase.
class PluginTimer {
 public:
  // Measures a whole phase.
  PluginTimer(Metrics* metrics, Step step) : PluginTimer(metrics, {}, step) {}
  PluginTimer(Metrics* metrics, const PluginPlace& plugin, Step step)
      : metrics_(metrics), plugin_(plugin), step_(step) {
    if (metrics_) began_ = metrics_->clock().Now();
  }
  void Observe(Operation operation, bool rejected) const;

 private:
  Metrics* metrics_;
  PluginPlace plugin_;
  Step step_;
  Clock::Monotonic began_;
};

}  // namespace apiserver::inline v0::admission
