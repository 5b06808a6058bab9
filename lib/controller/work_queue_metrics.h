#pragma once

#include <string>

#include "apiserver/base/clock.h"
#include "apiserver/base/metrics.h"

namespace apiserver::inline v0::controller {

// The series of one work queue, under the names of k8s.io/component-base's provider for
// workqueue. Without a registry or a name nothing is counted.
class WorkQueueMetrics final {
 public:
  WorkQueueMetrics(metrics::Registry* registry, const std::string& name);

  bool counted() const { return depth_ != nullptr; }
  // A key that did not wait yet was added.
  void Added();
  // A key was taken, `waited` after it was added.
  void Taken(Clock::Monotonic::duration waited);
  // The work on a key ended, after so long.
  void Worked(Clock::Monotonic::duration took);
  // A key was added with a delay.
  void Retried();
  // Sets how long keys have been worked on until now: all together, and the one that was taken
  // first.
  void SetUnfinished(Clock::Monotonic::duration all, Clock::Monotonic::duration longest);

 private:
  // Null: nothing is counted. They live as long as the registry.
  metrics::Gauge* depth_ = nullptr;
  metrics::Counter* adds_ = nullptr;
  metrics::Histogram* queue_duration_ = nullptr;
  metrics::Histogram* work_duration_ = nullptr;
  metrics::Counter* retries_ = nullptr;
  metrics::Gauge* unfinished_ = nullptr;
  metrics::Gauge* longest_ = nullptr;
};

}  // namespace apiserver::inline v0::controller
