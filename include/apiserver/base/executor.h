#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "apiserver/base/function.h"

namespace apiserver::inline v0 {

class LogSink;

// Runs functions: a loop (one thread, in order, nothing may wait on it) or a pool (many threads,
// work may wait). All methods may be called from any thread.
class Executor {
 public:
  using Task = UniqueFunction<void()>;
  // Cancels a task that has not begun; harmless otherwise. Any thread.
  using Cancel = UniqueFunction<void()>;

  virtual ~Executor() = default;

  // Runs `task` soon. A task that is still queued when the executor stops is destroyed unrun.
  virtual void Post(Task task) = 0;
  // Runs `task` once `delay` has passed, by this executor's clock.
  [[nodiscard]] virtual Cancel PostAfter(std::chrono::nanoseconds delay, Task task) = 0;
  // True if tasks may wait; false on a loop.
  virtual bool may_block() const = 0;
  // True if the calling thread is one of this executor's.
  virtual bool Inside() const = 0;
};

// Limits of a ThreadPool.
struct ThreadPoolOptions {
  std::string name = "pool";  // Prefix of the threads' names.
  // Tasks that may run at a time, without those that wait: so many, but no more than there are
  // CPUs or two; at least 1. More would take the caches from each other.
  std::size_t threads = 4;
  // The most threads beyond these, for tasks that wait. Those in a BlockingScope or a wait of
  // Guarded do not count as running. Other ones are noticed when tasks are queued and for a
  // millisecond none that runs needs a CPU: then twice as many may run, until enough do again.
  std::size_t threads_extra_max = 1024;
  // All threads but one end after so long without work, and with them what an allocator keeps for
  // each.
  std::chrono::milliseconds idle = std::chrono::seconds(1);
  // Receives exceptions that escape a task; the thread lives on. Null: they are not reported.
  // Outlives the pool.
  LogSink* log = nullptr;
};

// A pool that keeps the CPUs busy, and grows when its tasks wait. Stop() waits for running work and
// drops what is queued, and must not be called by that work; the destructor stops it.
class ThreadPool : public Executor {
 public:
  // Waits for running tasks and destroys queued ones unrun. Idempotent.
  virtual void Stop() = 0;
  // The number of threads now, for tests and metrics.
  virtual std::size_t threads() const = 0;
};

// Starts the thread of its timers; the others start with the first work.
std::unique_ptr<ThreadPool> NewThreadPool(ThreadPoolOptions options = {});

// An object that waits for news and is called on its own executor when there may be some.
class Wakeable {
 public:
  virtual ~Wakeable() = default;
  // Called on the executor named in the Waker, perhaps without news, never after destruction. Must
  // not block if that is a loop.
  virtual void OnWake() = 0;
};

// A handle by which a source of news wakes one that waits. Copyable and cheap; an empty one wakes
// nothing.
class Waker {
 public:
  Waker() = default;
  // Wakes `target`, while it lives, on `home`, which must outlive the Waker.
  Waker(Executor& home, std::weak_ptr<Wakeable> target)
      : home_(&home), target_(std::move(target)) {}

  // Posts OnWake to the home executor. Any thread.
  void Wake() const;
  Executor* home() const { return home_; }
  bool empty() const { return home_ == nullptr; }

  // Wakes all with one Post per home executor, which is what makes an event for ten thousand
  // watches cheap.
  static void WakeAll(std::span<const Waker> wakers);

 private:
  Executor* home_ = nullptr;
  std::weak_ptr<Wakeable> target_;
};

}  // namespace apiserver::inline v0
