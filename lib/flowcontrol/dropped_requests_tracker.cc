#include "flowcontrol/dropped_requests_tracker.h"

#include <algorithm>
#include <chrono>

namespace apiserver::v0::flowcontrol {

namespace {

// The maximum in seconds.
constexpr std::int64_t kRetryAfterMax = 32;

}  // namespace

// Called once for each second with rejections: keeps a short history and adapts the answer's
// Retry-After. Follows droppedRequestsStats of dropped_requests_tracker.go.
void DroppedRequestsTracker::NextSecond(Stats& stats, std::int64_t unix_time) {
  stats.history.push_back(stats.current);
  // Twice the present value, since the value may double.
  const std::int64_t kept = std::min(2 * stats.retry_after, kRetryAfterMax);
  while (stats.current.unix_time - stats.history.front().unix_time > kept) {
    stats.history.pop_front();
  }
  stats.current = {unix_time, 0};

  std::int64_t dropped = 0;
  // Newest first, so the loop ends at the first second that is too old.
  for (auto second = stats.history.rbegin(); second != stats.history.rend(); ++second) {
    if (unix_time - second->unix_time > stats.retry_after) break;
    if (second->unix_time < unix_time) dropped += second->requests;
  }
  // After a raise the clients need that long to come back later: raised again before, it would
  // overshoot.
  // Three rejections a second and more mean that clients come back too early.
  if (unix_time - stats.raised_at >= stats.retry_after && dropped >= 3 * stats.retry_after) {
    stats.retry_after = std::min(2 * stats.retry_after, kRetryAfterMax);
    stats.raised_at = unix_time;
  } else if (dropped < stats.retry_after && stats.retry_after > 1) {
    --stats.retry_after;
  }
}

int DroppedRequestsTracker::RecordDroppedRequest(std::string_view priority_level) {
  const std::int64_t unix_time =
      std::chrono::floor<std::chrono::seconds>(clock_.WallNow()).time_since_epoch().count();
  auto levels = levels_.Lock();
  auto found = levels->find(priority_level);
  if (found == levels->end()) found = levels->emplace(std::string(priority_level), Stats()).first;
  Stats& stats = found->second;
  if (stats.current.unix_time != unix_time) NextSecond(stats, unix_time);
  ++stats.current.requests;
  return static_cast<int>(stats.retry_after);
}

int DroppedRequestsTracker::RetryAfter(std::string_view priority_level) const {
  const auto levels = levels_.Lock();
  const auto found = levels->find(priority_level);
  return found == levels->end() ? 1 : static_cast<int>(found->second.retry_after);
}

}  // namespace apiserver::v0::flowcontrol
