#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "apiserver/base/metrics.h"
#include "apiserver/base/sync.h"

// The metrics of k8s.io/apiserver/pkg/util/flowcontrol/metrics, with its names.
namespace apiserver::inline v0::flowcontrol {

// Returns the help of a histogram of nanoseconds; upstream states the stability of those twice.
std::string ObservedOverTime(std::string_view what);

// The series by priority level and flow schema. They live as long as their Metrics; no lock.
struct FlowMetrics {
  metrics::Counter& rejected_queue_full;
  metrics::Counter& rejected_concurrency_limit;
  metrics::Counter& rejected_time_out;
  metrics::Counter& dispatched;
  metrics::Counter& dispatch_with_no_accommodation;
  metrics::Gauge& inqueue_requests;
  metrics::Gauge& inqueue_seats;
  metrics::Gauge& executing_requests;
  metrics::Gauge& executing_seats;
  metrics::Histogram& queue_length;
  metrics::Histogram& wait_executed;
  metrics::Histogram& wait_refused;
  metrics::Histogram& execution_regular;
  metrics::Histogram& execution_watch;
  metrics::Histogram& watch_count;
  metrics::Histogram& work_estimated_seats;
};

// The series of a priority level.
struct LevelMetrics {
  metrics::Gauge& current_r;
  metrics::Gauge& dispatch_r;
  metrics::Gauge& latest_s;
  metrics::Gauge& next_s_min;
  metrics::Gauge& next_s_max;
  metrics::Gauge& next_discounted_s_min;
  metrics::Gauge& next_discounted_s_max;
  metrics::Counter& epoch_advances;
  metrics::Gauge& nominal_limit_seats;
  metrics::Gauge& lower_limit_seats;
  metrics::Gauge& upper_limit_seats;
  metrics::Gauge& current_limit_seats;
  metrics::Gauge& demand_high_watermark;
  metrics::Gauge& demand_average;
  metrics::Gauge& demand_stdev;
  metrics::Gauge& demand_smoothed;
  metrics::Gauge& target_seats;
  // Shares of limits, over time.
  metrics::Histogram& seat_utilization;
  metrics::Histogram& waiting_utilization;
  metrics::Histogram& executing_utilization;
  metrics::Histogram& demand_seats;
};

// Finds the series, and keeps them. Any thread.
class Metrics final {
 public:
  explicit Metrics(std::shared_ptr<metrics::Registry> registry) : registry_(std::move(registry)) {}

  const FlowMetrics& Of(std::string_view priority_level, std::string_view flow_schema);
  const LevelMetrics& Of(std::string_view priority_level);
  metrics::Gauge& seat_fair_frac();
  metrics::Registry& registry() { return *registry_; }

 private:
  using FlowKey = std::pair<std::string, std::string>;

  std::shared_ptr<metrics::Registry> registry_;
  Guarded<std::map<FlowKey, std::unique_ptr<const FlowMetrics>>> flows_;
  Guarded<std::map<std::string, std::unique_ptr<const LevelMetrics>, std::less<>>> levels_;
};

}  // namespace apiserver::inline v0::flowcontrol
