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
#include "base/workers.h"

namespace apiserver::v0 {
namespace {

using Instant = std::chrono::steady_clock::time_point;

// The time that a task may wait before somebody looks why.
constexpr std::chrono::milliseconds kPatience(1);

// A task of PostAfter. The first to claim it owns `task`: the thread that runs it, or its Cancel.
struct Timer {
  explicit Timer(Executor::Task t) : task(std::move(t)) {}
  bool Claim() { return !claimed.exchange(true); }

  Executor::Task task;
  std::atomic<bool> claimed{false};
};

struct TimerQueue {
  std::multimap<Instant, std::shared_ptr<Timer>> timers;
  bool watching = false;  // A task waits for a look around.
  bool stopping = false;
};

class Pool final : public ThreadPool {
 public:
  explicit Pool(ThreadPoolOptions options)
      : options_(WithOneThread(std::move(options))),
        timers_(std::make_shared<Guarded<TimerQueue>>()),
        workers_(options_, {.run = [this](Task task) { RunTask(std::move(task)); },
                            .look_soon = [this] { LookSoon(); }}) {
    clerk_ = Thread(options_.name + "-timer", [this] { RunClerk(); });
  }
  ~Pool() override { Stop(); }

  void Post(Task task) override { workers_.Post(std::move(task)); }
  Cancel PostAfter(std::chrono::nanoseconds delay, Task task) override;
  bool may_block() const override { return true; }
  bool Inside() const override { return workers_.Inside(); }
  void Stop() override;
  std::size_t threads() const override { return workers_.threads(); }

 private:
  static ThreadPoolOptions WithOneThread(ThreadPoolOptions options) {
    options.threads = std::max<std::size_t>(options.threads, 1);
    return options;
  }

  void DropQueued();
  void RunTask(Task task) const;
  void LogEscaped(const char* what) const;
  void LookSoon();

  void RunClerk();
  // Sleeps until there is something to do. Returns the timers that are due.
  std::vector<std::shared_ptr<Timer>> WaitForWork(std::optional<Instant>& look);

  const ThreadPoolOptions options_;
  const std::shared_ptr<Guarded<TimerQueue>>
      timers_;  // Shared with the Cancels, which may outlive us.
  Workers workers_;
  Thread clerk_;
  Guarded<bool> stopped_{false};
};

// The clerk looks around once, however many tasks are posted meanwhile.
void Pool::LookSoon() {
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
  workers_.Stop();
  *stopped = true;
}

// Destroys queued tasks before Stop() waits for the threads: running work may be waiting for them.
void Pool::DropQueued() {
  workers_.Drop();
  std::multimap<Instant, std::shared_ptr<Timer>> timers;
  {
    auto queue = timers_->Lock();
    queue->stopping = true;
    timers.swap(queue->timers);
  }
  timers_->NotifyAll();
}

// An exception ends the task, not the process, even if there is no memory to tell of it.
void Pool::RunTask(Task task) const {
  try {
    task();
  } catch (const std::exception& e) {
    LogEscaped(e.what());
  } catch (...) {
    LogEscaped("not a std::exception");
  }
}

void Pool::LogEscaped(const char* what) const {
  if (options_.log == nullptr) return;
  try {
    Log(*options_.log, LogLevel::kError, "an exception escaped a task", {{"what", what}});
  } catch (...) {  // NOLINT(bugprone-empty-catch): there is no memory for a line
  }
}

// Posts the timers that are due instead of running them: a slow task must not delay the next one.
void Pool::RunClerk() {
  std::optional<Instant> look;  // The next look around; nullopt while no task waits for one.
  while (true) {
    for (const auto& timer : WaitForWork(look)) {
      Post([timer] {
        if (timer->Claim()) std::exchange(timer->task, nullptr)();
      });
    }
    if (timers_->Lock()->stopping) return;
    if (!look || std::chrono::steady_clock::now() < *look) continue;
    // Cleared before looking, so that a Post from now on sets it again.
    timers_->Lock()->watching = false;
    look = workers_.LookAround();
    if (look) timers_->Lock()->watching = true;
  }
}

std::vector<std::shared_ptr<Timer>> Pool::WaitForWork(std::optional<Instant>& look) {
  auto queue = timers_->Lock();
  if (queue->watching && !look) look = std::chrono::steady_clock::now() + kPatience;
  auto wake = look;
  if (!queue->timers.empty()) {
    const Instant first = queue->timers.begin()->first;
    wake = wake ? std::min(*wake, first) : first;
  }
  const auto changed = [&] {
    if (queue->stopping || (queue->watching && !look)) return true;
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

}  // namespace

std::unique_ptr<ThreadPool> NewThreadPool(ThreadPoolOptions options) {
  return std::make_unique<Pool>(std::move(options));
}

}  // namespace apiserver::v0
