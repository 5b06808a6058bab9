#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace apiserver::inline v0::storage::rocks {

// An event that happens once and that one thread waits for. A futex word: completing costs a system
// call only if a thread sleeps already, where a mutex and a condition cost two and a lock.
class Completion {
 public:
  void Complete();
  // Returns false if `timeout` passed first.
  bool WaitFor(std::chrono::nanoseconds timeout);
  bool completed() const { return word_.load(std::memory_order_acquire) == kDone; }

 private:
  static constexpr std::uint32_t kPending = 0;
  static constexpr std::uint32_t kWaitedFor = 1;
  static constexpr std::uint32_t kDone = 2;

  std::atomic<std::uint32_t> word_ = kPending;
};

}  // namespace apiserver::inline v0::storage::rocks
