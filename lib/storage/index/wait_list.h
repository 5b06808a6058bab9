#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "apiserver/base/executor.h"

namespace apiserver::inline v0::storage::index {

// A place in a log: the number of events ever appended before it, and the least revision that the
// next one can have.
struct LogPlace {
  std::uint64_t events = 0;
  std::int64_t next_revision = 0;
};

// A reader that waits for events of a prefix. Owned by a cursor; everything but `prefix` is guarded
// by the lock of the log.
struct Waiter {
  static constexpr std::uint32_t kNone = static_cast<std::uint32_t>(-1);

  std::string_view prefix;
  LogPlace place;
  Waker waker;
  std::uint32_t list_index = kNone;  // The index in the WaitList; kNone: not waiting.
  bool passed = false;               // True if the log took it past events of other prefixes.
};

// The waiters of one log. The caller holds the log's lock, and uses the wakers it is given after it
// has released the lock.
class WaitList {
 public:
  // Adds a waiter; one that is in the list gets the new waker.
  void Add(Waiter& waiter, const Waker& waker);
  void Remove(Waiter& waiter);
  // Moves the wakers of the waiters whose prefix one of `keys` has to `wakers`, and takes all
  // others to `end`: so a waiter is never left behind by events that are not for it.
  void TakeMatching(const std::vector<std::string_view>& keys, LogPlace end,
                    std::vector<Waker>& wakers);
  // Moves the wakers of all waiters, or of those that were taken past something, to `wakers`.
  void TakeAll(std::vector<Waker>& wakers);
  void TakePassed(std::vector<Waker>& wakers);

  bool empty() const { return waiters_.empty(); }

 private:
  template <class Predicate>
  void TakeIf(std::vector<Waker>& wakers, Predicate take);

  std::vector<Waiter*> waiters_;
};

}  // namespace apiserver::inline v0::storage::index
