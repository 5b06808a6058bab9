#include "storage/index/wait_list.h"

#include <algorithm>
#include <utility>

namespace apiserver::v0::storage::index {

void WaitList::Add(Waiter& waiter, const Waker& waker) {
  waiter.waker = waker;
  if (waiter.list_index != Waiter::kNone) return;
  waiter.list_index = static_cast<std::uint32_t>(waiters_.size());
  waiters_.push_back(&waiter);
}

// The last waiter takes the free place, so that it costs the same however many there are.
void WaitList::Remove(Waiter& waiter) {
  if (waiter.list_index == Waiter::kNone) return;
  waiters_[waiter.list_index] = waiters_.back();
  waiters_[waiter.list_index]->list_index = waiter.list_index;
  waiters_.pop_back();
  waiter.list_index = Waiter::kNone;
}

template <class Predicate>
void WaitList::TakeIf(std::vector<Waker>& wakers, Predicate take) {
  for (std::size_t i = 0; i < waiters_.size();) {
    Waiter& waiter = *waiters_[i];
    if (!take(waiter)) {
      ++i;
      continue;
    }
    if (!waiter.waker.empty()) wakers.push_back(std::exchange(waiter.waker, Waker()));
    Remove(waiter);
  }
}

// Waiters that the changes do not concern go to the end of the log, and need never read them.
void WaitList::TakeMatching(const std::vector<std::string_view>& keys, LogPlace end,
                            std::vector<Waker>& wakers) {
  TakeIf(wakers, [&keys, end](Waiter& waiter) {
    const bool match = std::any_of(keys.begin(), keys.end(), [&waiter](std::string_view key) {
      return key.starts_with(waiter.prefix);
    });
    if (!match) {
      waiter.place = end;
      waiter.passed = true;
    }
    return match;
  });
}

void WaitList::TakeAll(std::vector<Waker>& wakers) {
  TakeIf(wakers, [](const Waiter&) { return true; });
}

void WaitList::TakePassed(std::vector<Waker>& wakers) {
  TakeIf(wakers, [](const Waiter& waiter) { return waiter.passed; });
}

}  // namespace apiserver::v0::storage::index
