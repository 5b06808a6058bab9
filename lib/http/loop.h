#pragma once  // Library-internal: other rooms include this header.

#include <array>
#include <atomic>
#include <cassert>
#include <chrono>
#include <cstddef>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <typeindex>
#include <typeinfo>
#include <unordered_set>
#include <vector>

#include "apiserver/base/clock.h"
#include "apiserver/base/executor.h"
#include "apiserver/base/log.h"
#include "apiserver/base/sync.h"
#include "http/pool_batch.h"
#include "http/timers.h"

namespace apiserver::inline v0::http {

// An event of another thread that is handled on the loop. Delivered without an allocation for a
// task.
class LoopEvent {
 public:
  virtual ~LoopEvent() = default;
  virtual void OnLoop() = 0;
};

// An object that collects output during a turn, or a part of it, and writes it once at the end.
class Flushable {
 public:
  virtual ~Flushable() = default;
  virtual void Flush() = 0;
  // Called for FlushInTurn(): Flush() may have sent everything in the meantime.
  virtual void FlushTurn() { Flush(); }
};

// An object that waits for something that cannot come once the loop has stopped.
class LoopWaiter {
 public:
  virtual ~LoopWaiter() = default;
  virtual void OnLoopStop() = 0;
};

// One thread that waits for sockets, timers and other threads. A turn handles the ready sockets, a
// few at a time, and flushes the connections that have output after each few; then come timers,
// posted tasks and events, and another flush. At last it hands the new work over to the pool, and
// flushes some of the connections that wait for their turn. Nothing may block on it.
class Loop final : public Executor, public std::enable_shared_from_this<Loop> {
 public:
  static std::shared_ptr<Loop> Create(LogSink& log);
  ~Loop() override;

  // Starts the thread.
  void Start(const std::string& name);
  // Ends and joins the thread. Queued tasks and timers are destroyed unrun; events delivered from
  // then on are dealt with by the thread that delivers them, one at a time. Idempotent.
  void Stop();
  // Returns whether Stop() has ended the thread: nothing that is posted runs any more. Any thread.
  bool stopped() const;
  // Runs everything that is ready now on the calling thread, which is the loop meanwhile. For loops
  // without a thread: fuzzers and tests.
  void RunReady();

  void Post(Task task) override;
  [[nodiscard]] Cancel PostAfter(std::chrono::nanoseconds delay, Task task) override;
  bool may_block() const override { return false; }
  bool Inside() const override;

  // Calls `event->OnLoop()` on the loop, and destroys the reference there. After Stop() the calling
  // thread does it. Takes nothing if it throws. Any thread.
  void Deliver(std::shared_ptr<LoopEvent>&& event);

  // The rest: on the loop only.
  //
  // Flushes `connection` at the end of the turn at the latest, and not within the call that asks.
  // Callers avoid duplicates.
  void FlushLater(std::shared_ptr<Flushable> connection);
  // Calls `connection->FlushTurn()` after those of the calls before: in this turn, or in one of the
  // next if there are many. An event for thousands of connections keeps no request waiting for all
  // of them, and what happens before its turn comes leaves a connection in the same send.
  void FlushInTurn(std::shared_ptr<Flushable> connection);
  // Gives `work` to `pool` at the end of the turn.
  void HandOver(Executor& pool, std::shared_ptr<PoolWork> work);
  // The time of this turn. It is read once a turn, which is exact enough for time limits.
  Clock::Monotonic now();
  // The readings of clocks that requests in line share at one filter. On the loop.
  struct LineClock {
    const Clock* clock = nullptr;  // Null: none has been read yet.
    Clock::Monotonic now = {};
    const Clock* wall_clock = nullptr;  // Likewise.
    Clock::Wall wall_now = {};
  };
  LineClock& line_clock() { return line_clock_; }
  void Arm(Timers::Entry& entry, Clock::Monotonic when);
  void Disarm(Timers::Entry& entry) { timers_.Disarm(entry); }
  // Calls `waiter->OnLoopStop()` in the last turn, unless StopsWaiting() comes before.
  void Waits(std::shared_ptr<LoopWaiter> waiter) { waiters_.insert(std::move(waiter)); }
  void StopsWaiting(const std::shared_ptr<LoopWaiter>& waiter) { waiters_.erase(waiter); }
  // The buffer for one read. Its contents are valid until the next one.
  std::span<char> read_buffer() { return {read_buffer_.get(), kReadBufferBytes}; }
  // The buffer that output is put together in. It is empty between flushes, when it gives back what
  // an unusually long output has added to its memory.
  std::string& write_buffer();
  // The buffer that TLS records are put together in, for one send. It is empty between writes.
  std::string& record_buffer() { return record_buffer_; }
  // Returns the `T` of this loop, which the first call makes as T(*this): an object of another room
  // for all exchanges of the loop. On the loop only, as there is no lock.
  template <class T>
  std::shared_ptr<T> Local() {
    assert(Inside());
    std::shared_ptr<void>& local = locals_[typeid(T)];
    if (!local) local = std::make_shared<T>(*this);
    return std::static_pointer_cast<T>(local);
  }
  // The Date header: "Sat, 21 Nov 2026 05:00:00 GMT".
  const std::string& Date();
  LogSink& log() const { return log_; }
  // Logs the exception that is being handled, in a short line if there is no memory for more. Any
  // thread.
  void LogCaught(std::string_view where) const noexcept;

  struct Bell;
  struct Reactor;
  Reactor& reactor() { return *reactor_; }

 private:
  static constexpr std::size_t kReadBufferBytes = 64 << 10;
  // The state of one PostAfter().
  struct PostedTimer;
  // Tasks and events of other threads, under a lock.
  struct Inbox {
    std::vector<Task> tasks;
    std::vector<std::shared_ptr<LoopEvent>> events;
    bool stopped = false;
    bool draining = false;
  };
  // Work for one pool that is collected during a turn.
  struct Batch {
    std::shared_ptr<PoolBatch> handoff;
    std::vector<std::shared_ptr<PoolWork>> work;
  };

  explicit Loop(LogSink& log);
  void Run();
  // Runs one turn. `wait`: until a socket, a timer or another thread has something to do. If not,
  // all flushes are done.
  void Turn(bool wait);
  void EndTurn(Clock::Monotonic began, bool all);
  void FlushDirty();
  // Flushes some of the connections that wait for their turn, or all.
  void FlushTurns(std::chrono::nanoseconds time, bool all);
  void LetPoolRun();
  bool RunQueued();
  void RunTask(Task& task);
  template <class Call>
  void Guard(std::string_view where, const Call& call);
  void LogBriefly() const noexcept;
  // Returns whether there was work.
  bool HandOverAll();
  bool FallAsleep();
  std::shared_ptr<const Bell> BellIfAsleep();
  std::optional<std::chrono::nanoseconds> UntilTimer();
  void DrainStopped();
  void DropTimers();
  void EndWaiters();

  LogSink& log_;
  std::unique_ptr<Reactor> reactor_;
  std::atomic<std::thread::id> owner_;
  std::atomic<bool> stopping_{false};
  std::atomic<bool> inbox_filled_{false};
  std::atomic<bool> asleep_{false};  // It must be woken to look into the inbox.
  Guarded<Inbox> inbox_;
  Thread thread_;

  // The members from here on belong to the loop and need no lock.
  std::vector<Task> tasks_;
  std::vector<std::shared_ptr<LoopEvent>> events_;
  std::vector<std::shared_ptr<Flushable>> dirty_;
  std::deque<std::shared_ptr<Flushable>> in_turn_;
  Clock::Monotonic gives_way_at_{};  // It does not let the pool run before.
  std::map<Executor*, Batch> batches_;
  std::unordered_set<std::shared_ptr<LoopWaiter>> waiters_;
  Timers timers_;
  Clock::Monotonic now_;
  bool now_stale_ = true;
  LineClock line_clock_;
  // Not zeroed: its memory is taken from the system when bytes are read.
  const std::unique_ptr<char[]> read_buffer_;
  std::string write_buffer_;
  std::string record_buffer_;
  std::map<std::type_index, std::shared_ptr<void>> locals_;
  std::string date_;
  std::chrono::sys_seconds date_second_{std::chrono::seconds(-1)};
  Clock::Monotonic date_checked_{};
};

}  // namespace apiserver::inline v0::http
