#include "storage/rocks/completion.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <ctime>

namespace apiserver::v0::storage::rocks {

static_assert(sizeof(std::atomic<std::uint32_t>) == sizeof(std::uint32_t));

void Completion::Complete() {
  // A wake-up is a system call, which is made only for a thread that waits.
  if (word_.exchange(kDone, std::memory_order_acq_rel) != kWaitedFor) return;
  (void)syscall(SYS_futex, &word_, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
}

bool Completion::WaitFor(std::chrono::nanoseconds timeout) {
  std::uint32_t before = kPending;
  word_.compare_exchange_strong(before, kWaitedFor, std::memory_order_acq_rel);
  if (before == kDone) return true;
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(timeout);
  timespec wait{};
  wait.tv_sec = static_cast<time_t>(seconds.count());
  wait.tv_nsec = static_cast<long>((timeout - seconds).count());
  // The wait may return early for no reason; the caller calls again.
  (void)syscall(SYS_futex, &word_, FUTEX_WAIT_PRIVATE, kWaitedFor, &wait, nullptr, 0);
  return completed();
}

}  // namespace apiserver::v0::storage::rocks
