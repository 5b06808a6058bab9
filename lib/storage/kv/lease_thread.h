#pragma once  // Library-internal: other rooms include this header.

#include <atomic>
#include <functional>
#include <optional>

#include "apiserver/base/clock.h"
#include "apiserver/base/sync.h"

namespace apiserver::inline v0::storage::kv {

// Ends leases on time while the engine gets no calls. It reads the injected clock at least once a
// second, so that a clock which jumps is noticed.
class LeaseThread {
 public:
  // `expire` ends the leases that have ended by now. It is called on this object's thread and may
  // block.
  LeaseThread(const Clock& clock, std::function<void()> expire)
      : clock_(clock), expire_(std::move(expire)) {}
  ~LeaseThread() { Stop(); }

  // Sets the end of the next lease; starts the thread if it does not run. None: no lease is left.
  void Watch(std::optional<Clock::Monotonic> end);
  // True if a lease has ended; costs a load and, if there are leases, a look at the clock.
  bool Due() const;
  // Stops the thread and waits for it. Idempotent; nothing is called afterwards.
  void Stop();

 private:
  void Run();

  const Clock& clock_;
  std::function<void()> expire_;
  std::atomic<Clock::Monotonic::rep> next_ = kNever;
  struct State {
    bool stopping = false;
    bool changed = false;  // True if `next_` may be earlier than the end the thread waits for.
    Thread thread;
  };
  Guarded<State> state_;

  static constexpr Clock::Monotonic::rep kNever =
      Clock::Monotonic::max().time_since_epoch().count();
};

}  // namespace apiserver::inline v0::storage::kv
