#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

#include "apiserver/base/function.h"

namespace apiserver::inline v0 {

// Hears that its thread is about to wait, so that another may run meanwhile. Called by that thread,
// perhaps while it holds the lock of a Guarded, so that nothing may be called that waits for one.
class WaitListener {
 public:
  virtual void BeginWait() = 0;  // A wait begins.
  virtual void EndWait() = 0;    // The wait is over.

  // The listener of the calling thread, which is null except on threads of a ThreadPool.
  static WaitListener*& OfThisThread();

 protected:
  ~WaitListener() = default;
};

// Tells the calling thread's ThreadPool, for as long as this lives, that the thread waits for
// something: a disk, an answer. Then another task may run meanwhile, and at once. The waits of
// Guarded and Notification tell so themselves, and what else waits is noticed after a millisecond
// or two. Does nothing on other threads, nor inside another scope.
class BlockingScope {
 public:
  BlockingScope() : listener_(std::exchange(WaitListener::OfThisThread(), nullptr)) {
    if (listener_ != nullptr) listener_->BeginWait();
  }
  ~BlockingScope() {
    if (listener_ == nullptr) return;
    listener_->EndWait();
    WaitListener::OfThisThread() = listener_;
  }
  BlockingScope(const BlockingScope&) = delete;
  BlockingScope& operator=(const BlockingScope&) = delete;

 private:
  WaitListener* const listener_;
};

// A value that cannot be touched without holding its lock.
//
//   Guarded<std::vector<int>> numbers;
//   numbers.Lock()->push_back(3);
//
// Never call out (user code, a callback, another Guarded's owner) while a Locked is alive.
template <class T>
class Guarded {
 public:
  // Access to the value while the lock is held; releases it when destroyed.
  class Locked {
   public:
    T* operator->() const { return value_; }
    T& operator*() const { return *value_; }
    // Releases the lock, waits for a Notify and takes the lock again, until `done` holds.
    template <class Predicate>
    void Wait(Predicate done) {
      if (done()) return;
      const BlockingScope blocking;
      owner_->changed_.wait(lock_, std::move(done));
    }
    // The same, but waits at most until `deadline`. Returns whether `done` held.
    template <class Predicate>
    bool WaitUntil(std::chrono::steady_clock::time_point deadline, Predicate done) {
      if (done()) return true;
      const BlockingScope blocking;
      return owner_->changed_.wait_until(lock_, deadline, std::move(done));
    }

   private:
    friend class Guarded;
    explicit Locked(Guarded* owner) : owner_(owner), lock_(owner->mutex_), value_(&owner->value_) {}
    Guarded* owner_;
    std::unique_lock<std::mutex> lock_;
    T* value_;
  };

  // Constructs the value from `args`.
  template <class... Args>
  explicit Guarded(Args&&... args) : value_(std::forward<Args>(args)...) {}
  Guarded(const Guarded&) = delete;
  Guarded& operator=(const Guarded&) = delete;

  // Waits for the lock.
  [[nodiscard]] Locked Lock() { return Locked(this); }
  [[nodiscard]] Locked Lock() const { return Locked(const_cast<Guarded*>(this)); }

  // Wakes one thread that stands in Wait; call it after changing the value, with or without the
  // lock.
  void NotifyOne() { changed_.notify_one(); }
  // Wakes every thread that stands in Wait.
  void NotifyAll() { changed_.notify_all(); }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  T value_;
};

// An event that happens once; any thread may wait for it.
class Notification {
 public:
  // Makes it happen. Further calls change nothing.
  void Notify();
  // Reports without waiting whether it has happened.
  bool HasBeenNotified() const;
  // Waits until it has happened.
  void Wait() const;
  // Waits for at most `timeout`. False: that passed first.
  bool WaitFor(std::chrono::milliseconds timeout) const;

 private:
  mutable Guarded<bool> notified_{false};
};

// A named thread, joined by its destructor. An exception that escapes `body` ends the process with
// the thread's name rather than silently. Runs under SCHED_BATCH unless the creating thread has a
// policy other than SCHED_OTHER.
class Thread {
 public:
  Thread() = default;
  // Starts the thread with `body`, which may block. `name` is cut to 15 bytes, the limit of Linux.
  Thread(std::string name, UniqueFunction<void()> body);
  Thread(Thread&&) = default;
  Thread& operator=(Thread&&) = default;
  ~Thread();

  // Waits for the end of `body`. Nothing happens if it was joined already.
  void Join();
  bool joinable() const { return thread_.joinable(); }

 private:
  std::thread thread_;
};

}  // namespace apiserver::inline v0
