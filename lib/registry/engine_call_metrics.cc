#include "registry/engine_call_metrics.h"

#include <array>
#include <atomic>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace apiserver::v0::registry {

namespace {

using storage::store::Call;
using storage::store::kCalls;

// In the order of Call.
constexpr std::array<std::string_view, kCalls> kOperations = {
    "get", "list", "listWithCount", "getCurrentResourceVersion", "create", "update", "delete"};

std::vector<double> Seconds() {
  return {0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1,  1.25, 1.5, 2,
          3,     4,     5,    6,   8,   10,  15,  20,  30, 45,   60};
}

class EngineCalls final : public storage::store::CallObserver {
 public:
  EngineCalls(std::shared_ptr<metrics::Registry> registry, runtime::GroupResource resource)
      : registry_(std::move(registry)),
        resource_(std::move(resource)),
        seconds_(registry_->Histograms(
            {.name = "etcd_request_duration_seconds",
             .help = "[ALPHA] Etcd request latency in seconds for each operation and object type.",
             .labels = {"operation", "group", "resource"}},
            Seconds())),
        calls_(registry_->Counters(
            {.name = "etcd_requests_total",
             .help = "[ALPHA] Etcd request counts for each operation and object type.",
             .labels = {"operation", "group", "resource"}})),
        errors_(registry_->Counters(
            {.name = "etcd_request_errors_total",
             .help = "[ALPHA] Etcd failed request counts for each operation and object type.",
             .labels = {"operation", "group", "resource"}})) {}

  void OnCall(Call call, std::chrono::nanoseconds took, bool failed) override {
    const auto at = static_cast<std::size_t>(call);
    SeriesOf(seconds_, kept_seconds_[at], call)
        .Observe(std::chrono::duration<double>(took).count());
    SeriesOf(calls_, kept_calls_[at], call).Add();
    if (failed) With(errors_, call).Add();
  }

 private:
  template <class Metric>
  Metric& With(metrics::Family<Metric>& family, Call call) const {
    const std::string_view operation = kOperations[static_cast<std::size_t>(call)];
    return family.With({operation, resource_.group, resource_.resource});
  }

  // Returns a series that is made by the first call: most resources see few of the operations.
  // Threads that come first together get the same one.
  template <class Metric>
  Metric& SeriesOf(metrics::Family<Metric>& family, std::atomic<Metric*>& kept, Call call) {
    Metric* series = kept.load(std::memory_order_acquire);
    if (series != nullptr) return *series;
    series = &With(family, call);
    kept.store(series, std::memory_order_release);
    return *series;
  }

  const std::shared_ptr<metrics::Registry> registry_;  // The series belong to it.
  const runtime::GroupResource resource_;
  metrics::Family<metrics::Histogram>& seconds_;
  metrics::Family<metrics::Counter>& calls_;
  metrics::Family<metrics::Counter>& errors_;
  std::array<std::atomic<metrics::Histogram*>, kCalls> kept_seconds_{};
  std::array<std::atomic<metrics::Counter*>, kCalls> kept_calls_{};
};

}  // namespace

std::shared_ptr<storage::store::CallObserver> CountEngineCalls(
    const std::shared_ptr<metrics::Registry>& registry, const runtime::GroupResource& resource) {
  return std::make_shared<EngineCalls>(registry, resource);
}

}  // namespace apiserver::v0::registry
