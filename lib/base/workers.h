#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "apiserver/base/executor.h"
#include "apiserver/base/sync.h"

namespace apiserver::inline v0 {

// The threads of a pool and the tasks that wait for one. As many run at a time as keep the CPUs
// busy: more would only take the caches from each other. Those that wait do not count: some tell
// it, and for the rest LookAround() asks the kernel as long as tasks are queued.
//
// The idle thread that ran last is called first: its stack and what the allocator keeps for it are
// still in the caches, and those that are never called end.
class Workers {
 public:
  using Task = Executor::Task;
  using Instant = std::chrono::steady_clock::time_point;

  struct Calls {
    // Runs a task. Many threads at a time.
    UniqueFunction<void(Task)> run;
    // A task may have to wait for a look around. Any thread, without a lock.
    UniqueFunction<void()> look_soon;
  };

  Workers(const ThreadPoolOptions& options, Calls calls);
  ~Workers() { Stop(); }
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  void Post(Task task);
  // Chooses how many may run. Returns when to look again; nullopt: no task waits. One thread calls
  // it at a time.
  std::optional<Instant> LookAround();

  // Destroys what is queued and what comes, unrun. Threads end when they have run their task.
  void Drop();
  // Drops, and waits for the threads.
  void Stop();

  std::size_t threads() const { return state_.Lock()->live.size(); }
  // True if the calling thread is one of them.
  bool Inside() const { return Current() == this; }

 private:
  // One thread. Nobody deletes it as a WaitListener, whose destructor is not virtual.
  class Worker final : public WaitListener {  // NOLINT(cppcoreguidelines-virtual-class-destructor)
   public:
    explicit Worker(Workers& pool) : pool_(pool) {}
    void Start() {
      thread_ = Thread(pool_.options_.name, [this] { Run(); });
    }
    int kernel_id() const { return kernel_id_; }

    void BeginWait() override { pool_.BeginWait(*this); }
    void EndWait() override { pool_.EndWait(*this); }

    void Call();
    // False: nobody has called for so long.
    bool AwaitCall(std::chrono::milliseconds patience);

    // Guarded by the lock of the state.
    bool idle = false;
    bool waits = false;

   private:
    void Run();

    Workers& pool_;
    std::atomic<int> kernel_id_{0};
    Guarded<bool> called_{false};
    Thread thread_;
  };
  using WorkerPtr = std::unique_ptr<Worker>;

  struct State {
    std::deque<Task> queue;
    std::vector<WorkerPtr> live;
    WorkerPtr ended;            // Joined by the next thread that ends, or by Stop.
    std::vector<Worker*> idle;  // The last one to run is at the end.
    std::size_t waiting = 0;    // Threads that have told that they wait.
    std::size_t allowed = 0;    // So many may run.
    std::uint64_t taken = 0;    // Tasks ever taken from the queue.
    bool stopping = false;

    std::size_t running() const { return live.size() - idle.size() - waiting; }
  };

  static const Workers*& Current();

  // Both count the thread as running. Null: none is idle.
  Worker* TakeIdle(State& state);
  // False: there may be, or can be, no more threads.
  bool AddThread(State& state);
  // nullopt: the thread is to end.
  std::optional<Task> NextTask(Worker& self);
  // False: the thread is to end, having waited for too long.
  bool Park(Worker& self);
  void BeginWait(Worker& self);
  void EndWait(Worker& self);

  // The kernel's names of the threads that run, unless a look is not needed any more.
  std::optional<std::vector<int>> Running();
  void Allow(std::size_t running, std::size_t need_cpu);

  const ThreadPoolOptions options_;
  const std::size_t allowed_min_;
  const std::size_t live_max_;
  Calls calls_;
  Guarded<State> state_;

  // Used by LookAround only.
  std::uint64_t taken_before_ = 0;
  std::size_t looks_in_vain_ = 0;  // Since a task was taken.
};

}  // namespace apiserver::inline v0
