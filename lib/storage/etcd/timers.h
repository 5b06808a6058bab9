#pragma once

#include <chrono>
#include <map>

#include "apiserver/base/clock.h"
#include "apiserver/base/function.h"
#include "apiserver/base/sync.h"

namespace apiserver::inline v0::storage::etcd {

// Runs things later, on one thread of its own, by the machine's clock: retries and looks at etcd
// must go on where a test has stopped its clock.
class Timers {
 public:
  Timers() : thread_("etcd-timers", [this] { Run(); }) {}
  ~Timers() { Stop(); }

  // `task` must be quick. After Stop() it runs at once.
  void After(std::chrono::nanoseconds delay, UniqueFunction<void()> task);
  // Runs what is left at once, on the calling thread. Idempotent; not from within a task.
  void Stop();

 private:
  struct State {
    bool stopping = false;
    std::multimap<Clock::Monotonic, UniqueFunction<void()>> tasks;
  };
  void Run();
  // Waits for the next task to be due; null: Stop() was called.
  UniqueFunction<void()> Next();

  Guarded<State> state_;
  Thread thread_;
};

}  // namespace apiserver::inline v0::storage::etcd
