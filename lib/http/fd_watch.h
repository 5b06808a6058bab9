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
// the receiver alive. Used on the loop only, except for the destructor.
class FdWatch final {
 public:
  FdWatch(Loop& loop, int fd);
  FdWatch(const FdWatch&) = delete;
  FdWatch& operator=(const FdWatch&) = delete;
  ~FdWatch();

  int fd() const { return fd_; }
  // Begin a wait; at most one for each direction at a time.
  void AwaitReadable(std::shared_ptr<FdEvents> who);
  void AwaitWritable(std::shared_ptr<FdEvents> who);
  // Closes the descriptor. Waits in progress end without a call.
  void Close();

 private:
  struct Descriptor;
  std::unique_ptr<Descriptor> descriptor_;
  int fd_;
};

}  // namespace apiserver::inline v0::http
