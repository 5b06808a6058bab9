#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

#include "apiserver/base/metrics.h"

namespace apiserver::inline v0::controller {

// The results of reconciliations that controller_runtime_reconcile_total tells apart.
enum class ReconcileOutcome : std::uint8_t { kSuccess, kRequeueAfter, kError };

// The series of one controller, under the names and with the buckets of
// sigs.k8s.io/controller-runtime/pkg/internal/controller/metrics. All of them exist from the start,
// so that rates of the first error are right. Without a registry nothing is counted.
class ReconcileMetrics final {
 public:
  ReconcileMetrics(metrics::Registry* registry, const std::string& controller, std::size_t workers);

  // A worker has begun to reconcile a key.
  void Began();
  // It has ended, after so long.
  void Ended(std::chrono::nanoseconds took);
  // The reconciler has thrown an exception.
  void Threw();
  // The result of a reconciliation is known.
  void Count(ReconcileOutcome outcome);

 private:
  // Null: nothing is counted. They live as long as the registry.
  metrics::Counter* success_ = nullptr;
  metrics::Counter* requeue_after_ = nullptr;
  metrics::Counter* error_ = nullptr;
  metrics::Counter* errors_ = nullptr;
  metrics::Counter* panics_ = nullptr;
  metrics::Gauge* active_ = nullptr;
  metrics::Histogram* time_ = nullptr;
};

}  // namespace apiserver::inline v0::controller
