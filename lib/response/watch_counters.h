#pragma once  // Library-internal: other rooms include this header.

#include <cstddef>
#include <cstdint>

#include "apiserver/base/metrics.h"

namespace apiserver::inline v0::response {

// The counters for the events of one watch, if the exchange has it: apiserver_watch_events_total
// and _sizes of its resource. They live as long as the server.
struct WatchCounters {
  metrics::Counter* events = nullptr;
  metrics::Histogram* sizes = nullptr;
};

// Counts the events that a watch sends at once. The counters, which all loops share, change when it
// ends, and not with each event.
class EventTally final {
 public:
  explicit EventTally(const WatchCounters& counters) : counters_(counters) {}
  EventTally(const EventTally&) = delete;
  EventTally& operator=(const EventTally&) = delete;
  ~EventTally() {
    if (counters_.events == nullptr || events_ == 0) return;
    AddRun();
    counters_.events->Add(static_cast<double>(events_));
  }

  void Count(std::size_t bytes) {
    ++events_;
    bytes_ += bytes;
    if (counters_.sizes == nullptr) return;
    const auto size = static_cast<double>(bytes);
    const std::size_t bucket = counters_.sizes->BucketOf(size);
    if (bucket != bucket_) AddRun();
    bucket_ = bucket;
    ++run_;
    run_bytes_ += size;
  }
  std::size_t events() const { return events_; }
  std::size_t bytes() const { return bytes_; }

 private:
  // Events in a row are mostly of one bucket.
  void AddRun() {
    if (run_ > 0) counters_.sizes->AddTo(bucket_, run_, run_bytes_);
    run_ = 0;
    run_bytes_ = 0;
  }

  const WatchCounters& counters_;
  std::size_t events_ = 0;
  std::size_t bytes_ = 0;
  std::size_t bucket_ = 0;
  std::uint64_t run_ = 0;
  double run_bytes_ = 0;
};

}  // namespace apiserver::inline v0::response
