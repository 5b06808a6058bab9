#include "base/workers.h"

#include <unistd.h>

#include <algorithm>
#include <new>
#include <system_error>
#include <thread>
#include <utility>

#include "base/thread_state.h"

namespace apiserver::v0 {
namespace {

// The time between two looks around, and that after one which has seen the CPUs busy. A look takes
// a few microseconds for each thread, so that with many threads there are fewer.
constexpr std::chrono::milliseconds kLook(1);
constexpr std::chrono::milliseconds kLookWhileBusy(4);
constexpr std::size_t kThreadsALook = 8;

// After so many looks at tasks that only compute, another may begin beside them.
constexpr std::size_t kLooksInVainMax = 4;

std::size_t AllowedMin(const ThreadPoolOptions& options) {
  const std::size_t cpus = std::max<std::size_t>(std::thread::hardware_concurrency(), 2);
  return std::min(options.threads, cpus);
}

}  // namespace

void Workers::Worker::Run() {
  Current() = &pool_;
  kernel_id_ = ::gettid();
  while (auto task = pool_.NextTask(*this)) {
    OfThisThread() = this;
    pool_.calls_.run(*std::move(task));
    OfThisThread() = nullptr;
  }
}

void Workers::Worker::Call() {
  *called_.Lock() = true;
  called_.NotifyOne();
}

bool Workers::Worker::AwaitCall(std::chrono::milliseconds patience) {
  auto called = called_.Lock();
  const auto until = std::chrono::steady_clock::now() + patience;
  return called.WaitUntil(until, [&] { return *called; }) && std::exchange(*called, false);
}

Workers::Workers(const ThreadPoolOptions& options, Calls calls)
    : options_(options),
      allowed_min_(AllowedMin(options)),
      live_max_(options.threads + options.threads_extra_max),
      calls_(std::move(calls)) {
  state_.Lock()->allowed = allowed_min_;
}

const Workers*& Workers::Current() {
  static thread_local const Workers* current = nullptr;
  return current;
}

void Workers::Post(Task task) {
  Worker* called = nullptr;
  bool look = false;
  {
    auto state = state_.Lock();
    if (state->stopping) return;
    state->queue.push_back(std::move(task));
    const bool may_run = state->running() < state->allowed;
    if (may_run) called = TakeIdle(*state);
    const bool runs = called != nullptr || (may_run && AddThread(*state));
    look = !runs || state->allowed > allowed_min_;
  }
  if (called != nullptr) called->Call();
  if (look) calls_.look_soon();
}

Workers::Worker* Workers::TakeIdle(State& state) {
  if (state.idle.empty()) return nullptr;
  Worker* const worker = state.idle.back();
  state.idle.pop_back();
  worker->idle = false;
  return worker;
}

// Takes the memory for the thread's place among the idle, too: when it goes there it may find none.
bool Workers::AddThread(State& state) {
  const std::size_t before = state.live.size();
  if (before >= live_max_) return false;
  try {
    state.idle.reserve(before + 1);
    state.live.emplace_back(std::make_unique<Worker>(*this))->Start();
    return true;
  } catch (const std::system_error&) {
  } catch (const std::bad_alloc&) {
  }
  state.live.resize(before);  // The existing ones go on.
  return false;
}

std::optional<Workers::Task> Workers::NextTask(Worker& self) {
  do {
    bool look = false;
    {
      auto state = state_.Lock();
      if (state->stopping) return std::nullopt;
      if (!state->queue.empty() && state->running() <= state->allowed) {
        Task task = std::move(state->queue.front());
        state->queue.pop_front();
        ++state->taken;
        return task;
      }
      self.idle = true;
      state->idle.push_back(&self);
      look = !state->queue.empty();  // Left to the others, who may wait.
    }
    if (look) calls_.look_soon();
  } while (Park(self));
  return std::nullopt;
}

bool Workers::Park(Worker& self) {
  WorkerPtr ended;  // Joined here, without the lock.
  while (!self.AwaitCall(options_.idle)) {
    auto state = state_.Lock();
    // A thread that is not idle is about to be called.
    if (!self.idle || state->live.size() == 1) continue;
    std::erase(state->idle, &self);
    const auto place = std::find_if(state->live.begin(), state->live.end(),
                                    [&self](const WorkerPtr& one) { return one.get() == &self; });
    ended = std::exchange(state->ended, std::move(*place));
    state->live.erase(place);
    return false;
  }
  return true;
}

void Workers::BeginWait(Worker& self) {
  Worker* called = nullptr;
  {
    auto state = state_.Lock();
    self.waits = true;
    ++state->waiting;
    if (state->queue.empty() || state->running() >= state->allowed) return;
    called = TakeIdle(*state);
    if (called == nullptr) (void)AddThread(*state);
  }
  if (called != nullptr) called->Call();
}

void Workers::EndWait(Worker& self) {
  auto state = state_.Lock();
  self.waits = false;
  --state->waiting;
}

std::optional<Workers::Instant> Workers::LookAround() {
  const auto running = Running();
  if (!running) return std::nullopt;
  const auto need_cpu =
      static_cast<std::size_t>(std::count_if(running->begin(), running->end(), &IsRunnable));
  Allow(running->size(), need_cpu);
  const auto pause = need_cpu >= allowed_min_ ? kLookWhileBusy : kLook;
  return std::chrono::steady_clock::now() + pause * (1 + running->size() / kThreadsALook);
}

std::optional<std::vector<int>> Workers::Running() {
  auto state = state_.Lock();
  // Those that may always run are enough again.
  if (state->queue.empty() && state->running() <= allowed_min_) state->allowed = allowed_min_;
  if (state->queue.empty() && state->allowed == allowed_min_) return std::nullopt;
  std::vector<int> running;
  for (const WorkerPtr& worker : state->live) {
    if (!worker->idle && !worker->waits) running.push_back(worker->kernel_id());
  }
  return running;
}

void Workers::Allow(std::size_t running, std::size_t need_cpu) {
  std::vector<Worker*> called;
  {
    auto state = state_.Lock();
    looks_in_vain_ = state->taken == taken_before_ ? looks_in_vain_ + 1 : 0;
    taken_before_ = state->taken;
    std::size_t allowed = state->allowed;
    if (need_cpu == 0) allowed = std::max(allowed, 2 * running);
    if (need_cpu >= allowed_min_) allowed -= (allowed + 7) / 8;
    if (looks_in_vain_ >= kLooksInVainMax) allowed = std::max(allowed, state->running() + 1);
    state->allowed = std::clamp(allowed, allowed_min_, live_max_);
    for (std::size_t left = state->queue.size(); left > 0 && state->running() < state->allowed;
         --left) {
      if (Worker* const worker = TakeIdle(*state)) {
        called.push_back(worker);
      } else if (!AddThread(*state)) {
        break;
      }
    }
  }
  for (Worker* const worker : called) worker->Call();
}

void Workers::Drop() {
  std::deque<Task> tasks;
  std::vector<Worker*> called;
  {
    auto state = state_.Lock();
    state->stopping = true;
    tasks.swap(state->queue);
    while (Worker* const worker = TakeIdle(*state)) called.push_back(worker);
  }
  for (Worker* const worker : called) worker->Call();
}

void Workers::Stop() {
  Drop();
  std::vector<WorkerPtr> live;
  WorkerPtr ended;
  {
    auto state = state_.Lock();
    live.swap(state->live);
    ended.swap(state->ended);
  }
}

}  // namespace apiserver::v0
