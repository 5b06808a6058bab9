#include "http/timers.h"

#include <algorithm>
#include <chrono>

namespace apiserver::v0::http {
namespace {

// Timers of a second and more share buckets of this width, so that those of thousands of
// connections are a few entries.
constexpr std::int64_t kCoarseMilliseconds = 64;
// And those of minutes and more buckets of this one: the ends of watches, spread over half an hour.
constexpr std::int64_t kLongMilliseconds = 1024;

std::int64_t Milliseconds(Clock::Monotonic time) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(time.time_since_epoch()).count();
}

}  // namespace

void Timers::Arm(Entry& entry, Clock::Monotonic now, Clock::Monotonic when) {
  Disarm(entry);
  // Rounds up past the current turn, so that an entry which arms itself for the past fires in the
  // next turn and does not keep this one going.
  std::int64_t tick = std::max<std::int64_t>(Milliseconds(std::max(when, now)) + 1, 0);
  if (when - now >= std::chrono::seconds(1)) {
    const bool is_long = when - now >= std::chrono::minutes(2);
    const std::int64_t width = is_long ? kLongMilliseconds : kCoarseMilliseconds;
    tick = (tick + width - 1) / width * width;
  }
  Entry*& head = buckets_[tick];
  entry.tick_ = tick;
  entry.previous_ = nullptr;
  entry.next_ = head;
  if (head != nullptr) head->previous_ = &entry;
  head = &entry;
}

void Timers::Disarm(Entry& entry) {
  if (!entry.armed()) return;
  if (entry.next_ != nullptr) entry.next_->previous_ = entry.previous_;
  if (entry.previous_ != nullptr) {
    entry.previous_->next_ = entry.next_;
  } else if (entry.next_ != nullptr) {
    buckets_.find(entry.tick_)->second = entry.next_;
  } else {
    buckets_.erase(entry.tick_);
  }
  entry.tick_ = -1;
}

// Takes the first entry anew each time, because an entry may disarm any other.
void Timers::RunDue(Clock::Monotonic now) {
  const std::int64_t tick = Milliseconds(now);
  while (!buckets_.empty() && buckets_.begin()->first <= tick) {
    Entry& entry = *buckets_.begin()->second;
    Disarm(entry);
    entry.Fire();
  }
}

std::optional<Clock::Monotonic> Timers::Next() const {
  if (buckets_.empty()) return std::nullopt;
  return Clock::Monotonic(std::chrono::milliseconds(buckets_.begin()->first));
}

Timers::Entry* Timers::TakeAny() {
  if (buckets_.empty()) return nullptr;
  Entry* entry = buckets_.begin()->second;
  Disarm(*entry);
  return entry;
}

}  // namespace apiserver::v0::http
