#include <algorithm>
#include <atomic>
#include <cstdint>
#include <deque>
#include <exception>
#include <map>
#include <optional>
#include <system_error>
#include <utility>

#include "apiserver/base/executor.h"
#include "apiserver/base/log.h"
#include "apiserver/base/sync.h"

namespace apiserver::v0 {
namespace {

using Instant = std::chrono::steady_clock::time_point;

// How long all threads may be busy before one is added for queued work.
constexpr auto kStallCheck = std::chrono::milliseconds(1);

// A task of PostAfter. The first to claim it owns `task`: the thread that runs it, or its Cancel.
struct Timer {
  explicit Timer(Executor::Task t) : task(std::move(t)) {}
  bool Claim() { return !claimed.exchange(true); }

  Executor::Task task;
  std::atomic<bool> claimed{false};
};

struct TimerQueue {
  std::multimap<Instant, std::shared_ptr<Timer>> timers;
  bool watching = false;  // There is queued work that no thread was free for.
  bool stopping = false;
};

class Pool final : public ThreadPool {
 public:
  explicit Pool(ThreadPoolOptions options)
      : options_(std::move(options)), timers_(std::make_shared<Guarded<TimerQueue>>()) {
    options_.threads = std::max<std::size_t>(options_.threads, 1);
    clerk_ = Thread(options_.name + "-timer", [this] { RunClerk(); });
  }
  ~Pool() override { Stop(); }

  void Post(Task task) override;
  Cancel PostAfter(std::chrono::nanoseconds delay, Task task) override;
  bool may_block() const override { return true; }
  bool Inside() const override { return CurrentPool() == this; }
  void Stop() override;
  std::size_t threads() const override { return state_.Lock()->live; }

 private:
  struct State {
    std::deque<Task> queue;
    std::map<std::uint64_t, Thread> running;
    std::vector<Thread> ended;  // Joined by the next thread that ends, or by Stop.
    std::size_t live = 0;
    std::size_t idle = 0;
    std::uint64_t next_id = 0;
    std::uint64_t started = 0;  // Tasks ever taken from the queue.
    bool stopping = false;
  };

  static const Pool*& CurrentPool() {
    static thread_local const Pool* pool = nullptr;
    return pool;
  }

  void DropQueued();
  void AddThreads(std::size_t count);
  void RunWorker(std::uint64_t id);
  // Returns nullopt if this thread is to end.
  std::optional<Task> NextTask();
  void Retire(std::uint64_t id);
  void RunTask(Task task) const;

  void RunClerk();
  // Sleeps until there is something to do. Returns the timers that are due.
  std::vector<std::shared_ptr<Timer>> WaitForWork(std::optional<Instant>& check);
  void AddThreadsIfStalled();

  ThreadPoolOptions options_;
  mutable Guarded<State> state_;
  const std::shared_ptr<Guarded<TimerQueue>>
      timers_;  // Shared with the Cancels, which may outlive us.
  Thread clerk_;
  Guarded<bool> stopped_{false};

  // Used by the clerk only.
  std::uint64_t started_before_ = 0;
  std::size_t step_ = 1;  // Doubles while adding threads does not help.
};

void Pool::Post(Task task) {
  bool no_thread_free = false;
  bool add_thread = false;
  {
    auto state = state_.Lock();
    if (state->stopping) return;
    state->queue.push_back(std::move(task));
    // Each idle thread takes one task; further ones have to wait.
    no_thread_free = state->queue.size() > state->idle;
    add_thread = no_thread_free && state->live < options_.threads;
  }
  if (add_thread) return AddThreads(1);
  state_.NotifyOne();
  if (!no_thread_free) return;
  // The clerk looks for a stall once, however many tasks are posted meanwhile.
  auto timers = timers_->Lock();
  if (timers->watching) return;
  timers->watching = true;
  timers_->NotifyOne();
}

Executor::Cancel Pool::PostAfter(std::chrono::nanoseconds delay, Task task) {
  const Instant when =
      std::chrono::steady_clock::now() + std::chrono::duration_cast<Instant::duration>(delay);
  auto timer = std::make_shared<Timer>(std::move(task));
  {
    auto timers = timers_->Lock();
    if (timers->stopping) return [] {};
    const auto place = timers->timers.emplace(when, timer);
    if (place == timers->timers.begin()) timers_->NotifyOne();
  }
  return [weak = std::weak_ptr(timer), queue = std::weak_ptr(timers_), when] {
    const auto mine = weak.lock();
    if (mine == nullptr || !mine->Claim()) return;
    // The captures are destroyed by the Cancel, not when the time has come.
    mine->task = nullptr;
    const auto all = queue.lock();
    if (all == nullptr) return;
    auto timers = all->Lock();
    auto [first, last] = timers->timers.equal_range(when);
    first = std::find_if(first, last, [&](const auto& entry) { return entry.second == mine; });
    if (first != last) timers->timers.erase(first);
  };
}

void Pool::Stop() {
  // Held to the end, so that a second caller returns only when all threads are joined.
  auto stopped = stopped_.Lock();
  if (*stopped) return;
  DropQueued();
  clerk_.Join();
  std::map<std::uint64_t, Thread> running;
  std::vector<Thread> ended;
  {
    auto state = state_.Lock();
    running.swap(state->running);
    ended.swap(state->ended);
  }
  for (auto& [id, thread] : running) thread.Join();
  for (Thread& thread : ended) thread.Join();
  state_.Lock()->live = 0;
  *stopped = true;
}

// Destroys queued tasks before Stop() waits for the threads: running work may be waiting for them.
void Pool::DropQueued() {
  std::deque<Task> tasks;
  std::multimap<Instant, std::shared_ptr<Timer>> timers;
  {
    auto state = state_.Lock();
    state->stopping = true;
    tasks.swap(state->queue);
  }
  state_.NotifyAll();
  {
    auto queue = timers_->Lock();
    queue->stopping = true;
    timers.swap(queue->timers);
  }
  timers_->NotifyAll();
}

void Pool::AddThreads(std::size_t count) {
  auto state = state_.Lock();
  const std::size_t limit = options_.threads + options_.threads_extra_max;
  for (; count > 0 && state->live < limit && !state->stopping; --count) {
    const std::uint64_t id = state->next_id++;
    try {
      state->running.emplace(id, Thread(options_.name, [this, id] { RunWorker(id); }));
    } catch (const std::system_error&) {
      return;  // The machine has no more threads; the existing ones go on.
    }
    ++state->live;
  }
}

void Pool::RunWorker(std::uint64_t id) {
  CurrentPool() = this;
  while (auto task = NextTask()) RunTask(*std::move(task));
  Retire(id);
}

std::optional<Executor::Task> Pool::NextTask() {
  auto state = state_.Lock();
  const auto ready = [&] { return state->stopping || !state->queue.empty(); };
  while (!ready()) {
    ++state->idle;
    const bool called = state.WaitUntil(std::chrono::steady_clock::now() + options_.idle, ready);
    --state->idle;
    if (!called && state->live > 1) {
      // Counted here: another thread would otherwise think that it is one too many as well.
      --state->live;
      return std::nullopt;
    }
  }
  if (state->stopping) return std::nullopt;
  Task task = std::move(state->queue.front());
  state->queue.pop_front();
  ++state->started;
  return task;
}

void Pool::Retire(std::uint64_t id) {
  std::vector<Thread> earlier;  // Joined here, without the lock.
  auto state = state_.Lock();
  // Stop() joins the running threads, this one too.
  if (state->stopping) return;
  earlier.swap(state->ended);
  const auto self = state->running.find(id);
  state->ended.push_back(std::move(self->second));
  state->running.erase(self);
}

// An exception ends the task, not the process.
void Pool::RunTask(Task task) const {
  try {
    task();
  } catch (const std::exception& e) {
    if (options_.log != nullptr) {
      Log(*options_.log, LogLevel::kError, "an exception escaped a task", {{"what", e.what()}});
    }
  } catch (...) {
    if (options_.log != nullptr) {
      Log(*options_.log, LogLevel::kError, "an exception escaped a task");
    }
  }
}

// Posts the timers that are due instead of running them: a slow task must not delay the next one.
void Pool::RunClerk() {
  // The next look for a stall; nullopt while no task waits for a thread.
  std::optional<Instant> check;
  while (true) {
    for (const auto& timer : WaitForWork(check)) {
      Post([timer] {
        if (timer->Claim()) std::exchange(timer->task, nullptr)();
      });
    }
    if (timers_->Lock()->stopping) return;
    if (check && std::chrono::steady_clock::now() >= *check) {
      check.reset();
      AddThreadsIfStalled();
    }
  }
}

std::vector<std::shared_ptr<Timer>> Pool::WaitForWork(std::optional<Instant>& check) {
  auto queue = timers_->Lock();
  if (queue->watching && !check) check = std::chrono::steady_clock::now() + kStallCheck;
  auto wake = check;
  if (!queue->timers.empty()) {
    const Instant first = queue->timers.begin()->first;
    wake = wake ? std::min(*wake, first) : first;
  }
  const auto changed = [&] {
    if (queue->stopping || (queue->watching && !check)) return true;
    return !queue->timers.empty() && (!wake || queue->timers.begin()->first < *wake);
  };
  if (wake) {
    queue.WaitUntil(*wake, changed);
  } else {
    queue.Wait(changed);
  }
  std::vector<std::shared_ptr<Timer>> due;
  const auto end = queue->timers.upper_bound(std::chrono::steady_clock::now());
  for (auto timer = queue->timers.begin(); timer != end; ++timer) due.push_back(timer->second);
  queue->timers.erase(queue->timers.begin(), end);
  return due;
}

void Pool::AddThreadsIfStalled() {
  // Cleared before looking, so that a Post from now on sets it again.
  timers_->Lock()->watching = false;
  std::size_t waiting = 0;
  bool stalled = false;
  {
    auto state = state_.Lock();
    if (state->queue.size() > state->idle) waiting = state->queue.size() - state->idle;
    stalled = waiting > 0 && state->started == started_before_;
    started_before_ = state->started;
  }
  if (waiting == 0) return;
  // Tasks still wait, so the clerk looks again.
  timers_->Lock()->watching = true;
  if (stalled) AddThreads(std::min(step_, waiting));
  step_ = stalled ? step_ * 2 : 1;
}

}  // namespace

std::unique_ptr<ThreadPool> NewThreadPool(ThreadPoolOptions options) {
  return std::make_unique<Pool>(std::move(options));
}

}  // namespace apiserver::v0
