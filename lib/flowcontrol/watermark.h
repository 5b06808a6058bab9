#pragma once

#include <algorithm>
#include <atomic>
#include <memory>

#include "apiserver/base/metrics.h"
#include "apiserver/request/request_info.h"

namespace apiserver::inline v0::flowcontrol {

// How many requests there were at once at the most, since it was last shown: what
// apiserver_current_inflight_requests and apiserver_current_inqueue_requests say. Any thread, no
// lock. k8s.io/apiserver/pkg/server/filters.requestWatermark.
class Watermark final {
 public:
  void Add(int delta) {
    const int now = count_.fetch_add(delta, std::memory_order_relaxed) + delta;
    int highest = highest_.load(std::memory_order_relaxed);
    while (highest < now && !highest_.compare_exchange_weak(highest, now)) {
    }
  }
  int count() const { return count_.load(std::memory_order_relaxed); }
  // The highest count since the last call; what is there now counts in the next one too.
  int Take() { return std::max(highest_.exchange(count()), count()); }

 private:
  std::atomic<int> count_{0};
  std::atomic<int> highest_{0};
};

// "get", "list" and "watch" are not; as max in flight and the two metrics see it.
inline bool IsMutatingRequest(const request::RequestInfo& info) {
  return info.verb != "get" && info.verb != "list" && info.verb != "watch";
}

// Of a server, by whether requests change anything.
class Watermarks final {
 public:
  explicit Watermarks(metrics::Registry& registry);

  Watermark& executing(bool mutating) { return mutating ? executing_mutating_ : executing_reads_; }
  Watermark& waiting(bool mutating) { return mutating ? waiting_mutating_ : waiting_reads_; }
  // Every second, as upstream.
  void Show();

 private:
  Watermark executing_reads_;
  Watermark executing_mutating_;
  Watermark waiting_reads_;
  Watermark waiting_mutating_;
  metrics::Family<metrics::Gauge>& inflight_;
  metrics::Family<metrics::Gauge>& inqueue_;
};

}  // namespace apiserver::inline v0::flowcontrol
