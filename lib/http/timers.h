#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>

#include "apiserver/base/clock.h"

namespace apiserver::inline v0::http {

// The timers of one loop: intrusive, so that arming and disarming cost no allocation, and bucketed
// (64 ms for what is a second away or more, else 1 ms), so that a hundred thousand are cheap. Never
// early. One thread.
class Timers {
 public:
  class Entry {
   public:
    Entry() = default;
    Entry(const Entry&) = delete;
    Entry& operator=(const Entry&) = delete;
    virtual ~Entry() = default;  // Must be disarmed.
    virtual void Fire() = 0;
    // The loop ends; called disarmed.
    virtual void Drop() {}
    bool armed() const { return tick_ >= 0; }

   private:
    friend class Timers;
    Entry* previous_ = nullptr;
    Entry* next_ = nullptr;
    std::int64_t tick_ = -1;
  };

  // Replaces an earlier time.
  void Arm(Entry& entry, Clock::Monotonic now, Clock::Monotonic when);
  void Disarm(Entry& entry);
  // Fires what is due; entries may arm and disarm others meanwhile.
  void RunDue(Clock::Monotonic now);
  std::optional<Clock::Monotonic> Next() const;
  // Disarms all, for a loop that ends; null when none is left.
  Entry* TakeAny();

 private:
  std::map<std::int64_t, Entry*> buckets_;  // By millisecond.
};

}  // namespace apiserver::inline v0::http
