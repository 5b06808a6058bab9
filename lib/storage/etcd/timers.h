#pragma once

#include <chrono>
#include <map>

#include "apiserver/base/clock.h"
#include "apiserver/base/function.h"
#include "apiserver/base/sync.h"

namespace apiserver::inline v0::storage::etcd {

// Runs tasks later, on one thread of its own, by the machine's clock: retries and checks of etcd
// must go on where a test has stopped its clock.
class Timers {
 public:
  Timers() : thread_("etcd-timers", [this] { Run(); }) {}
  ~Timers() { Stop(); }

  // Runs `task` after `delay` on the timers' thread; it must not block. After Stop() it runs at
  // once, on the calling thread.
  void After(std::chrono::nanoseconds delay, UniqueFunction<void()> task);
  // Runs the remaining tasks at once, on the calling thread. Idempotent; not from within a task.
  void Stop();

 private:
  struct State {
    bool stopping = false;
    std::multimap<Clock::Monotonic, UniqueFunction<void()>> tasks;
  };
  void Run();
  // Waits for the next task to be due. Null: Stop() was called.
  UniqueFunction<void()> Next();

  Guarded<State> state_;
  Thread thread_;
};

}  // namespace apiserver::inline v0::storage::etcd
