#pragma once

#include <memory>

#include "http/loop.h"

namespace apiserver::inline v0::http {

// Receives the news that a descriptor is ready. Called on the loop.
class FdEvents {
 public:
  virtual ~FdEvents() = default;
  // An error or a hang-up counts as both: the next read or write tells which it was.
  virtual void OnReadable() = 0;
  virtual void OnWritable() = 0;
};

// Owns a descriptor and waits on its loop for it to become ready. Each wait is one-shot and keeps
// the receiver alive. The kernel tells of what has come only once, which is remembered here until
// somebody waits for it: a wait for input costs no system call. Used on the loop only, except for
// the destructor.
class FdWatch final {
 public:
  // Throws if the kernel has no memory to watch `fd`, which stays the caller's then.
  FdWatch(Loop& loop, int fd);
  FdWatch(const FdWatch&) = delete;
  FdWatch& operator=(const FdWatch&) = delete;
  ~FdWatch();

  int fd() const { return fd_; }
  // Begin a wait; at most one for each direction at a time. The reader must have taken all there
  // was, or it may wait for ever: see AwaitTurn.
  void AwaitReadable(std::shared_ptr<FdEvents> who);
  void AwaitWritable(std::shared_ptr<FdEvents> who);
  // Begins a wait for reading that ends in the next turn, for a reader that has left something.
  void AwaitTurn(std::shared_ptr<FdEvents> who);
  // Closes the descriptor. Waits in progress end without a call.
  void Close();

 private:
  friend struct Loop::Reactor;

  Loop& loop_;
  int fd_;
  std::shared_ptr<FdEvents> reader_;  // Who waits.
  std::shared_ptr<FdEvents> writer_;
  bool readable_ = false;  // Input has come of which no reader was told.
  bool writable_ = false;
  bool ended_ = false;   // The peer has ended its direction: what a reader finds is the end.
  bool broken_ = false;  // Neither direction goes on.
  // The place among all watches of the loop, and among those whose receivers are to be told.
  FdWatch* previous_ = nullptr;
  FdWatch* next_ = nullptr;
  FdWatch* previous_due_ = nullptr;
  FdWatch* next_due_ = nullptr;
  bool watched_ = false;
  bool due_ = false;
};

}  // namespace apiserver::inline v0::http
