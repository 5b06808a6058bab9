#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>

#include "apiserver/base/clock.h"

namespace apiserver::inline v0::http {

// The timers of one loop. They are intrusive, so that arming and disarming allocate nothing, and
// bucketed (by 1,024 ms if they are two minutes away or more, by 64 ms if a second, else by 1 ms),
// so that a hundred thousand are cheap. A timer never fires early. Used by one thread.
class Timers {
 public:
  // One timer, a base or a member of the object that it belongs to.
  class Entry {
   public:
    Entry() = default;
    Entry(const Entry&) = delete;
    Entry& operator=(const Entry&) = delete;
    virtual ~Entry() = default;  // Must be disarmed.
    // Called once when the time has come, disarmed.
    virtual void Fire() = 0;
    // Called instead if the loop ends first, disarmed.
    virtual void Drop() {}
    bool armed() const { return tick_ >= 0; }

   private:
    friend class Timers;
    Entry* previous_ = nullptr;
    Entry* next_ = nullptr;
    std::int64_t tick_ = -1;
  };

  // Arms `entry` for `when`. Replaces an earlier time.
  void Arm(Entry& entry, Clock::Monotonic now, Clock::Monotonic when);
  // Does nothing if `entry` is not armed.
  void Disarm(Entry& entry);
  // Fires all entries that are due. They may arm and disarm others meanwhile.
  void RunDue(Clock::Monotonic now);
  // Returns when RunDue() has something to do next. nullopt: nothing is armed.
  std::optional<Clock::Monotonic> Next() const;
  // Disarms one entry and returns it, for a loop that ends. Null: none is left.
  Entry* TakeAny();

 private:
  std::map<std::int64_t, Entry*> buckets_;  // Keyed by millisecond.
};

}  // namespace apiserver::inline v0::http
