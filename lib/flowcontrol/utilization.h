#pragma once

#include "apiserver/base/clock.h"
#include "apiserver/base/metrics.h"
#include "flowcontrol/metrics.h"

namespace apiserver::inline v0::flowcontrol {

// A count as a share of its limit, over time, in a histogram of nanoseconds:
// k8s.io/apiserver/pkg/util/flowcontrol/metrics.TimingRatioHistogram. Not thread-safe: its owner
// has a lock already.
class TimingRatio final {
 public:
  // Starts with a count of zero. `histogram` must outlive this.
  TimingRatio(metrics::Histogram& histogram, Clock::Monotonic now) : histogram_(histogram, now) {}

  void Set(Clock::Monotonic now, int count) {
    if (count == count_) return;
    count_ = count;
    histogram_.Set(now, count_ / limit_);
  }
  // Sets the limit, which must be positive; it is 1 at first.
  void SetLimit(Clock::Monotonic now, double limit) {
    if (limit == limit_) return;
    limit_ = limit;
    histogram_.Set(now, count_ / limit_);
  }
  // Brings the histogram up to `now`; call it before the histogram is written.
  void Show(Clock::Monotonic now) { histogram_.Show(now); }

 private:
  metrics::TimingHistogram histogram_;
  int count_ = 0;
  double limit_ = 1;
};

// The utilization of a priority level, over time. Not thread-safe.
struct LevelUtilization {
  LevelUtilization(const LevelMetrics& metrics, Clock::Monotonic now)
      : waiting(metrics.waiting_utilization, now),
        executing(metrics.executing_utilization, now),
        seats(metrics.seat_utilization, now),
        demand(metrics.demand_seats, now) {}

  void SetLimits(Clock::Monotonic now, double places_in_queues, double seats_limit) {
    waiting.SetLimit(now, places_in_queues);
    for (TimingRatio* each : {&executing, &seats, &demand}) each->SetLimit(now, seats_limit);
  }
  void Show(Clock::Monotonic now) {
    for (TimingRatio* each : {&waiting, &executing, &seats, &demand}) each->Show(now);
  }

  TimingRatio waiting;    // Requests, as a share of places in queues.
  TimingRatio executing;  // Requests, as a share of seats.
  TimingRatio seats;      // Seats in use.
  TimingRatio demand;     // Seats in use or waited for.
};

}  // namespace apiserver::inline v0::flowcontrol
