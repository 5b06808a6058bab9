#pragma once  // Library-internal: other rooms include this header.

#include <algorithm>
#include <atomic>
#include <memory>

#include "apiserver/base/clock.h"
#include "apiserver/base/metrics.h"
#include "apiserver/request/request_info.h"
#include "flowcontrol/utilization.h"

namespace apiserver::inline v0::flowcontrol {

// The number of concurrent requests: the highest since it was last shown, which
// apiserver_current_inflight_requests and apiserver_current_inqueue_requests report, and a share of
// a limit over time. Any thread; no thread waits for another.
// k8s.io/apiserver/pkg/server/filters.requestWatermark.
class Watermark final {
 public:
  // `over_time` must outlive it.
  Watermark(metrics::Histogram& over_time, Clock::Monotonic now) : over_time_(over_time, now) {}

  void Add(int delta, Clock::Monotonic now) {
    const int count = count_.fetch_add(delta, std::memory_order_relaxed) + delta;
    int highest = highest_.load(std::memory_order_relaxed);
    while (highest < count && !highest_.compare_exchange_weak(highest, count)) {
    }
    Note(now);
  }
  int count() const { return count_.load(std::memory_order_relaxed); }
  // Returns the highest count since the last call; the present count is part of the next one too.
  int Take() { return std::max(highest_.exchange(count()), count()); }

  // Sets the number that the count is a share of: positive, 1 at first.
  void SetLimit(double limit, Clock::Monotonic now) {
    limit_.store(limit, std::memory_order_relaxed);
    Note(now);
  }
  // Brings the histogram up to `now`.
  void ShowOverTime(Clock::Monotonic now) {
    show_.store(true, std::memory_order_relaxed);
    Note(now);
  }

 private:
  // Puts the changes into `over_time_`. A thread that finds another one at it leaves its change to
  // that one, which looks again before it goes.
  void Note(Clock::Monotonic now);

  std::atomic<int> count_{0};
  std::atomic<int> highest_{0};
  std::atomic<int> to_note_{0};  // 0: no thread is at `over_time_`.
  std::atomic<bool> show_{false};
  std::atomic<double> limit_{1};
  TimingRatio over_time_;
};

// False for "get", "list" and "watch"; as max in flight and the two metrics see it.
inline bool IsMutatingRequest(const request::RequestInfo& info) {
  return info.verb != "get" && info.verb != "list" && info.verb != "watch";
}

// The limits of concurrent requests; one that is not positive counts as 1.
struct WatermarkLimits {
  double waiting = 0;
  double executing_reads = 0;
  double executing_mutating = 0;
};

// The watermarks of a server, by whether requests change anything.
class Watermarks final {
 public:
  Watermarks(metrics::Registry& registry, Clock::Monotonic now);

  Watermark& executing(bool mutating) { return mutating ? executing_mutating_ : executing_reads_; }
  Watermark& waiting(bool mutating) { return mutating ? waiting_mutating_ : waiting_reads_; }
  void SetLimits(const WatermarkLimits& limits, Clock::Monotonic now);
  // Sets the gauges; called every second, as upstream.
  void Show();
  // Call it before metrics are written.
  void ShowOverTime(Clock::Monotonic now);

 private:
  metrics::Family<metrics::Gauge>& inflight_;
  metrics::Family<metrics::Gauge>& inqueue_;
  metrics::Family<metrics::Histogram>& over_time_;
  Watermark executing_reads_;
  Watermark executing_mutating_;
  Watermark waiting_reads_;
  Watermark waiting_mutating_;
};

}  // namespace apiserver::inline v0::flowcontrol
