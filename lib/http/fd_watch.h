#pragma once

#include <memory>

#include "http/loop.h"

namespace apiserver::inline v0::http {

// Who is told that a descriptor is ready. On the loop.
class FdEvents {
 public:
  virtual ~FdEvents() = default;
  virtual void OnReadable() = 0;
  virtual void OnWritable() = 0;
};

// Owns a descriptor and waits on its loop for it to become ready; each wait is one-shot and keeps
// who waits alive. On the loop only, but for the destructor.
class FdWatch final {
 public:
  FdWatch(Loop& loop, int fd);
  FdWatch(const FdWatch&) = delete;
  FdWatch& operator=(const FdWatch&) = delete;
  ~FdWatch();

  int fd() const { return fd_; }
  void AwaitReadable(std::shared_ptr<FdEvents> who);
  void AwaitWritable(std::shared_ptr<FdEvents> who);
  // Waits end without a call.
  void Close();

 private:
  struct Descriptor;
  std::unique_ptr<Descriptor> descriptor_;
  int fd_;
};

}  // namespace apiserver::inline v0::http
