#pragma once  // Library-internal: other rooms include this header.

#include <atomic>
#include <functional>
#include <optional>

#include "apiserver/base/clock.h"
#include "apiserver/base/sync.h"

namespace apiserver::inline v0::storage::kv {

// Looks after the next end of a lease when nobody calls the engine. It reads the injected clock at
// least once a second, so that a clock which jumps is noticed.
class LeaseThread {
 public:
  // `expire` ends what has ended by now; called on the thread.
  LeaseThread(const Clock& clock, std::function<void()> expire)
      : clock_(clock), expire_(std::move(expire)) {}
  ~LeaseThread() { Stop(); }

  // When the next lease ends; starts the thread if it does not run. None: no lease is left.
  void Watch(std::optional<Clock::Monotonic> end);
  // Whether a lease has ended; costs a load and, if there are leases, a look at the clock.
  bool Due() const;
  // Idempotent; nothing is called afterwards.
  void Stop();

 private:
  void Run();

  const Clock& clock_;
  std::function<void()> expire_;
  std::atomic<Clock::Monotonic::rep> next_ = kNever;
  struct State {
    bool stopping = false;
    bool changed = false;  // `next_` is earlier than what the thread waits for, perhaps.
    Thread thread;
  };
  Guarded<State> state_;

  static constexpr Clock::Monotonic::rep kNever =
      Clock::Monotonic::max().time_since_epoch().count();
};

}  // namespace apiserver::inline v0::storage::kv
