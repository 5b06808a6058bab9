#include "http/loop.h"

#include <algorithm>
#include <exception>
#include <optional>
#include <utility>

#include "http/date.h"
#include "http/reactor.h"

namespace apiserver::v0::http {
namespace {

constexpr std::size_t kWriteBufferBytes = 96 << 10;
// Ready sockets that are looked after before what they led to is flushed and handed over.
constexpr int kSocketsPerTurn = 16;
// Those of them that are looked after before connections with output are flushed. The requests of
// a turn can be hundreds, and what they left behind would be gone from the CPU's cache by its end.
constexpr int kSocketsPerFlush = 4;
constexpr int kRoundsPerTurn = 8;
// The time for connections that are flushed in turn before the sockets are looked after again, or
// as long as those took.
constexpr auto kTurnsTimeMin = std::chrono::microseconds(250);

}  // namespace

struct Loop::PostedTimer final : Timers::Entry {
  void Fire() override {
    const auto keep = std::move(self);
    Task due = std::move(task);  // It may cancel its own timer.
    if (!cancelled.load()) loop->RunTask(due);
  }
  void Drop() override { self.reset(); }
  Loop* loop = nullptr;
  Task task;
  std::atomic<bool> cancelled{false};
  std::shared_ptr<PostedTimer> self;  // While armed.
};

std::shared_ptr<Loop> Loop::Create(LogSink& log) { return std::shared_ptr<Loop>(new Loop(log)); }

Loop::Loop(LogSink& log)
    : log_(log),
      reactor_(std::make_unique<Reactor>()),
      now_(RealClock().Now()),
      read_buffer_(std::make_unique_for_overwrite<char[]>(kReadBufferBytes)) {
  write_buffer_.reserve(kWriteBufferBytes);
}

Loop::~Loop() { Stop(); }

void Loop::Start(const std::string& name) {
  thread_ = Thread(name, [this] { Run(); });
}

void Loop::Stop() {
  if (Inside() || inbox_.Lock()->stopped) return;
  stopping_.store(true);
  reactor_->bell()->Ring();
  if (thread_.joinable()) thread_.Join();
  Inbox left;
  {
    auto inbox = inbox_.Lock();
    if (inbox->stopped) return;
    inbox->stopped = true;
    left.tasks.swap(inbox->tasks);
  }
  // Their destructors may post again, which has no effect any more.
  left.tasks.clear();
  DropTimers();
  std::exchange(tasks_, {}).clear();
  {
    auto inbox = inbox_.Lock();
    for (auto& event : events_) inbox->events.push_back(std::move(event));
  }
  events_.clear();
  for (auto& [pool, batch] : batches_) {
    for (const auto& work : std::exchange(batch.work, {})) work->DroppedByPool();
  }
  DrainStopped();
  std::exchange(dirty_, {}).clear();
  std::exchange(in_turn_, {}).clear();
}

void Loop::DropTimers() {
  while (Timers::Entry* entry = timers_.TakeAny()) entry->Drop();
}

// The end of one waiter, a connection, may leave others that wait: its paused streams.
void Loop::EndWaiters() {
  for (int round = 0; round < kRoundsPerTurn && !waiters_.empty(); ++round) {
    const auto waiters = std::exchange(waiters_, {});
    for (const auto& waiter : waiters) {
      Guard("an end", [&] { waiter->OnLoopStop(); });
    }
  }
}

// Handles events after Stop(). The first thread that comes is the loop until the queue is empty, so
// that events are still handled one at a time.
void Loop::DrainStopped() {
  {
    auto inbox = inbox_.Lock();
    if (inbox->draining) return;
    inbox->draining = true;
  }
  owner_.store(std::this_thread::get_id());
  for (;;) {
    std::vector<std::shared_ptr<LoopEvent>> events;
    {
      auto inbox = inbox_.Lock();
      for (auto& event : events_) inbox->events.push_back(std::move(event));
      events_.clear();
      if (inbox->events.empty()) {
        owner_.store(std::thread::id());
        inbox->draining = false;
        return;
      }
      events.swap(inbox->events);
    }
    for (const auto& event : events) event->OnLoop();
    std::exchange(tasks_, {}).clear();
  }
}

bool Loop::stopped() const { return inbox_.Lock()->stopped; }

bool Loop::Inside() const {
  return owner_.load(std::memory_order_relaxed) == std::this_thread::get_id();
}

void Loop::Run() {
  owner_.store(std::this_thread::get_id());
  while (!stopping_.load()) Turn(true);
  // Runs tasks that were posted before Stop(), such as the closing of connections.
  Turn(false);
  EndWaiters();
  Turn(false);
  owner_.store(std::thread::id());
}

void Loop::RunReady() {
  const std::thread::id before = owner_.exchange(std::this_thread::get_id());
  for (int i = 0; i < kRoundsPerTurn; ++i) Turn(false);
  owner_.store(before);
}

void Loop::Turn(bool wait) {
  const bool pending = !tasks_.empty() || !events_.empty() || !dirty_.empty() ||
                       !in_turn_.empty() || reactor_->due();
  now_stale_ = true;
  const bool sleeps = wait && !pending && FallAsleep();
  reactor_->Wait(sleeps ? UntilTimer() : std::chrono::nanoseconds(0));
  asleep_.store(false, std::memory_order_relaxed);
  now_stale_ = true;
  const Clock::Monotonic began = now();
  for (int i = 1; i <= kSocketsPerTurn && reactor_->due(); ++i) {
    Guard("a handler", [this] { reactor_->TellNext(); });
    if (i % kSocketsPerFlush == 0) FlushDirty();
  }
  EndTurn(began, !wait);
}

// False: something is in the inbox. Who fills it from now on sees that the loop sleeps: each side
// writes its own flag before it reads the other's.
bool Loop::FallAsleep() {
  asleep_.store(true);
  return !inbox_filled_.load();
}

void Loop::EndTurn(Clock::Monotonic began, bool all) {
  Guard("a timer", [this] { timers_.RunDue(now()); });
  for (int round = 0; round < kRoundsPerTurn; ++round) {
    const bool ran = RunQueued();
    if (!ran && dirty_.empty()) break;
    FlushDirty();
  }
  const bool handed_over = HandOverAll();
  if (in_turn_.empty()) return;
  // Requests that never cease must not leave the events behind for good.
  const auto time = std::max<std::chrono::nanoseconds>(RealClock().Now() - began, kTurnsTimeMin);
  if (handed_over && !all) LetPoolRun();
  FlushTurns(time, all);
  HandOverAll();
}

// Those that become dirty meanwhile wait for the next call.
void Loop::FlushDirty() {
  std::vector<std::shared_ptr<Flushable>> dirty;
  dirty.swap(dirty_);
  for (const auto& connection : dirty) {
    Guard("a flush", [&] { connection->Flush(); });
  }
}

// Those that ask again meanwhile come behind the others.
void Loop::FlushTurns(std::chrono::nanoseconds time, bool all) {
  std::size_t left = in_turn_.size();
  const Clock::Monotonic end = RealClock().Now() + time;
  do {
    const std::shared_ptr<Flushable> connection = std::move(in_turn_.front());
    in_turn_.pop_front();
    Guard("a flush", [&] { connection->FlushTurn(); });
  } while (--left > 0 && (all || RealClock().Now() < end));
}

// A loop that has much to flush does not sleep, so that on a CPU of its own the pool would only
// begin once the system takes the CPU away from the loop, milliseconds later. What the pool gets is
// measured: work that takes long gets half of the time.
void Loop::LetPoolRun() {
  const Clock::Monotonic before = RealClock().Now();
  if (before < gives_way_at_) return;
  std::this_thread::yield();
  now_stale_ = true;
  const Clock::Monotonic after = RealClock().Now();
  gives_way_at_ = after + (after - before);
}

// Tasks that are posted meanwhile wait for the next round, so that tasks which post themselves
// cannot starve the connections.
bool Loop::RunQueued() {
  std::vector<Task> tasks;
  std::vector<std::shared_ptr<LoopEvent>> events;
  tasks.swap(tasks_);
  events.swap(events_);
  Inbox theirs;
  if (inbox_filled_.load(std::memory_order_acquire)) {
    auto inbox = inbox_.Lock();
    inbox_filled_.store(false, std::memory_order_relaxed);
    theirs.tasks.swap(inbox->tasks);
    theirs.events.swap(inbox->events);
  }
  for (Task& task : tasks) RunTask(task);
  for (Task& task : theirs.tasks) RunTask(task);
  for (const auto& event : events) {
    Guard("an event", [&] { event->OnLoop(); });
  }
  for (const auto& event : theirs.events) {
    Guard("an event", [&] { event->OnLoop(); });
  }
  return !tasks.empty() || !events.empty() || !theirs.tasks.empty() || !theirs.events.empty();
}

void Loop::RunTask(Task& task) {
  Guard("a task", [&] { task(); });
}

// Exceptions here mostly mean a lack of memory. One piece of work is lost, and not the process.
template <class Call>
void Loop::Guard(std::string_view where, const Call& call) {
  try {
    call();
  } catch (...) {
    LogCaught(where);
  }
}

void Loop::LogCaught(std::string_view where) const noexcept {
  try {
    throw;
  } catch (const std::exception& error) {
    const std::string_view what = error.what();
    try {
      Log(log_, LogLevel::kError, "exception on a loop",
          {{"in", std::string(where)}, {"error", std::string(what)}});
    } catch (...) {
      LogBriefly();
    }
  } catch (...) {
    LogBriefly();
  }
}

// Logs a constant text, which needs no memory.
void Loop::LogBriefly() const noexcept {
  try {
    Log(log_, LogLevel::kError, "exception on a loop");
  } catch (...) {  // NOLINT(bugprone-empty-catch): there is no memory for a line
  }
}

bool Loop::HandOverAll() {
  bool any = false;
  for (auto& [pool, batch] : batches_) {
    if (batch.work.empty()) continue;
    any = true;
    batch.handoff->HandOver(batch.work);
  }
  return any;
}

void Loop::HandOver(Executor& pool, std::shared_ptr<PoolWork> work) {
  Batch& batch = batches_[&pool];
  if (!batch.handoff) batch.handoff = std::make_shared<PoolBatch>(pool);
  batch.work.push_back(std::move(work));
}

void Loop::Post(Task task) {
  if (Inside()) {
    tasks_.push_back(std::move(task));
    return;
  }
  std::shared_ptr<const Bell> bell;
  {
    auto inbox = inbox_.Lock();
    if (inbox->stopped) return;
    inbox->tasks.push_back(std::move(task));
    inbox_filled_.store(true);
    bell = BellIfAsleep();
  }
  if (bell) bell->Ring();
}

void Loop::Deliver(std::shared_ptr<LoopEvent>&& event) {
  if (Inside()) {
    events_.push_back(std::move(event));
    return;
  }
  bool stopped = false;
  std::shared_ptr<const Bell> bell;
  {
    auto inbox = inbox_.Lock();
    inbox->events.push_back(std::move(event));
    inbox_filled_.store(true);
    stopped = inbox->stopped;
    if (!stopped) bell = BellIfAsleep();
  }
  if (stopped) DrainStopped();
  if (bell) bell->Ring();
}

Executor::Cancel Loop::PostAfter(std::chrono::nanoseconds delay, Task task) {
  auto timer = std::make_shared<PostedTimer>();
  timer->loop = this;
  timer->task = std::move(task);
  const Clock::Monotonic when = RealClock().Now() + delay;
  const auto arm = [this, when](const std::shared_ptr<PostedTimer>& entry) {
    if (entry->cancelled.load()) return;
    entry->self = entry;
    Arm(*entry, when);
  };
  if (Inside()) {
    arm(timer);
  } else {
    Post([arm, timer] { arm(timer); });
  }
  return [timer, weak = weak_from_this()] {
    timer->cancelled.store(true);
    const auto loop = weak.lock();
    if (!loop) return;
    const auto disarm = [timer, raw = loop.get()] {
      raw->Disarm(*timer);
      timer->task = nullptr;
      timer->self.reset();
    };
    if (loop->Inside()) {
      disarm();
    } else {
      loop->Post(disarm);
    }
  };
}

void Loop::Arm(Timers::Entry& entry, Clock::Monotonic when) { timers_.Arm(entry, now(), when); }

Clock::Monotonic Loop::now() {
  if (std::exchange(now_stale_, false)) now_ = RealClock().Now();
  return now_;
}

std::string& Loop::write_buffer() {
  if (write_buffer_.capacity() > 4 * kWriteBufferBytes) {
    std::string().swap(write_buffer_);
    write_buffer_.reserve(kWriteBufferBytes);
  }
  return write_buffer_;
}

// The time until the next timer. nullopt: none is armed.
std::optional<std::chrono::nanoseconds> Loop::UntilTimer() {
  const auto next = timers_.Next();
  if (!next) return std::nullopt;
  return *next - now();
}

void Loop::FlushLater(std::shared_ptr<Flushable> connection) {
  dirty_.push_back(std::move(connection));
}

void Loop::FlushInTurn(std::shared_ptr<Flushable> connection) {
  in_turn_.push_back(std::move(connection));
}

// One wake-up serves all that is posted before the loop looks, and a loop that runs needs none.
// Called with the inbox locked, as the loop does not end before it has the lock; what was posted
// may be the end of who has the loop, so that only the bell may be used after that.
std::shared_ptr<const Loop::Bell> Loop::BellIfAsleep() {
  return asleep_.exchange(false) ? reactor_->bell() : nullptr;
}

const std::string& Loop::Date() {
  const Clock::Monotonic turn = now();
  if (turn == date_checked_) return date_;
  date_checked_ = turn;
  const auto second = std::chrono::floor<std::chrono::seconds>(RealClock().WallNow());
  if (second == date_second_) return date_;
  date_ = FormatDate(second);
  date_second_ = second;
  return date_;
}

}  // namespace apiserver::v0::http
