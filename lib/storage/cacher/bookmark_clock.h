#pragma once

#include <chrono>
#include <map>
#include <memory>

#include "apiserver/base/clock.h"
#include "apiserver/base/executor.h"
#include "apiserver/base/sync.h"

namespace apiserver::inline v0::storage::cacher {

// Wakes waiting watches when a bookmark is due: one timer for all of them, which runs only while a
// watch waits for a bookmark.
class BookmarkClock : public std::enable_shared_from_this<BookmarkClock> {
 public:
  // The longest delay of a bookmark.
  static constexpr std::chrono::milliseconds kTick = std::chrono::seconds(1);

  // The registration of one watch; belongs to one thread, as the watch does.
  class Ticket {
   public:
    // `clock` must outlive it.
    explicit Ticket(BookmarkClock& clock) : clock_(clock) {}
    Ticket(const Ticket&) = delete;
    Ticket& operator=(const Ticket&) = delete;
    ~Ticket();
    // Wakes `waker` once `due` has passed; does nothing if that is asked for already.
    void Set(Clock::Monotonic due, const Waker& waker);

   private:
    BookmarkClock& clock_;
    Clock::Monotonic due_ = {};
    Executor* home_ = nullptr;
  };

  BookmarkClock(Executor* executor, const Clock& clock) : executor_(executor), clock_(clock) {}
  // Stops waking.
  void Stop();

 private:
  struct State {
    std::map<std::pair<Clock::Monotonic, const Ticket*>, Waker> due;
    bool running = false;
    bool stopped = false;
    Executor::Cancel cancel;
  };
  void Start();
  void Tick();

  Executor* const executor_;
  const Clock& clock_;
  Guarded<State> state_;
};

}  // namespace apiserver::inline v0::storage::cacher
