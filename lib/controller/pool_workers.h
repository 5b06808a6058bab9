#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <utility>

#include "apiserver/base/executor.h"
#include "apiserver/base/sync.h"

namespace apiserver::inline v0::controller {

// Workers that are tasks of a pool: they come when they are called and leave when there is no work,
// so that a queue without work has no thread. Owned by a shared_ptr. Any thread.
class PoolWorkers final : public std::enable_shared_from_this<PoolWorkers> {
 public:
  // `turn` does one piece of work, which may block; false: there is none. It is called by at most
  // `max` tasks of `pool` at a time, until Stop(). The pool must outlive Stop().
  PoolWorkers(Executor& pool, std::size_t max, std::function<bool()> turn)
      : pool_(pool), max_(max), turn_(std::move(turn)) {}

  // Lets workers come once `ready` says so, which is asked on the pool every `pause`, and must not
  // block. Call it once.
  void Start(std::function<bool()> ready, std::chrono::nanoseconds pause);
  // Has a worker look for work once `after` has passed. Of calls before the start none is lost.
  void Call(std::chrono::nanoseconds after);
  // Lets no worker begin, and waits for those that work. Idempotent; not to be called by `turn`.
  void Stop();

 private:
  struct State {
    bool started = false;
    std::size_t early = 0;  // Calls before the start, `max_` at most.
    bool stopped = false;
    bool again = false;      // Somebody has called while all workers were there.
    std::size_t called = 0;  // Workers that are on their way or at work.
    std::size_t inside = 0;  // Tasks that Stop() waits for.
  };

  // Counts a task that Stop() waits for. False: it has stopped.
  bool Enter();
  void Leave();
  // Lets workers come, and returns how many were called before.
  std::size_t Begin();
  void Run();
  // Returns whether this worker is to leave.
  bool Rest();

  Executor& pool_;
  const std::size_t max_;
  const std::function<bool()> turn_;
  Guarded<State> state_;
};

}  // namespace apiserver::inline v0::controller
