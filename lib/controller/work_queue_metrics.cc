#include "controller/work_queue_metrics.h"

#include <chrono>

namespace apiserver::v0::controller {
namespace {

double Seconds(Clock::Monotonic::duration time) {
  return std::chrono::duration<double>(time).count();
}

}  // namespace

WorkQueueMetrics::WorkQueueMetrics(metrics::Registry* registry, const std::string& name) {
  if (registry == nullptr || name.empty()) return;
  const auto bounds = metrics::ExponentialBuckets(10e-9, 10, 10);
  const auto gauge = [&](const char* metric, const char* help) {
    return &registry->Gauges({metric, help, {"name"}}).With({name});
  };
  const auto counter = [&](const char* metric, const char* help) {
    return &registry->Counters({metric, help, {"name"}}).With({name});
  };
  const auto histogram = [&](const char* metric, const char* help) {
    return &registry->Histograms({metric, help, {"name"}}, bounds).With({name});
  };
  depth_ = gauge("workqueue_depth", "[BETA] Keys that wait in a work queue.");
  adds_ = counter("workqueue_adds_total", "[BETA] Keys added to a work queue.");
  queue_duration_ = histogram("workqueue_queue_duration_seconds",
                              "[BETA] Seconds that a key waited before a worker took it.");
  work_duration_ =
      histogram("workqueue_work_duration_seconds", "[BETA] Seconds that a worker worked on a key.");
  retries_ = counter("workqueue_retries_total", "[BETA] Keys added again after a delay.");
  unfinished_ = gauge("workqueue_unfinished_work_seconds",
                      "[BETA] Seconds that keys have been worked on which are not done yet, added "
                      "up. A worker that is stuck makes it grow by one a second.");
  longest_ = gauge("workqueue_longest_running_processor_seconds",
                   "[BETA] Seconds since the key was taken that is worked on for longest.");
}

void WorkQueueMetrics::Added() {
  if (!counted()) return;
  adds_->Add();
  depth_->Add();
}

void WorkQueueMetrics::Taken(Clock::Monotonic::duration waited) {
  if (!counted()) return;
  depth_->Subtract();
  queue_duration_->Observe(Seconds(waited));
}

void WorkQueueMetrics::Worked(Clock::Monotonic::duration took) {
  if (counted()) work_duration_->Observe(Seconds(took));
}

void WorkQueueMetrics::Retried() {
  if (counted()) retries_->Add();
}

void WorkQueueMetrics::SetUnfinished(Clock::Monotonic::duration all,
                                     Clock::Monotonic::duration longest) {
  if (!counted()) return;
  unfinished_->Set(Seconds(all));
  longest_->Set(Seconds(longest));
}

}  // namespace apiserver::v0::controller
