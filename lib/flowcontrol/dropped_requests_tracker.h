#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <string_view>

#include "apiserver/base/clock.h"
#include "apiserver/base/sync.h"

namespace apiserver::inline v0::flowcontrol {

// Counts the recent rejections of each priority level, and derives how long clients are told to
// wait: 1 second, doubled while rejections go on, up to 32.
// k8s.io/apiserver/pkg/util/flowcontrol.DroppedRequestsTracker. Any thread.
class DroppedRequestsTracker final {
 public:
  explicit DroppedRequestsTracker(const Clock& clock) : clock_(clock) {}

  // Counts one more; returns the seconds of Retry-After.
  int RecordDroppedRequest(std::string_view priority_level);
  int RetryAfter(std::string_view priority_level) const;

 private:
  struct Second {
    std::int64_t unix_time;
    std::int64_t requests;
  };
  struct Stats {
    std::deque<Second> history;
    Second current{0, 0};
    std::int64_t retry_after = 1;
    std::int64_t raised_at = 0;
  };
  static void NextSecond(Stats& stats, std::int64_t unix_time);

  const Clock& clock_;
  Guarded<std::map<std::string, Stats, std::less<>>> levels_;
};

}  // namespace apiserver::inline v0::flowcontrol
