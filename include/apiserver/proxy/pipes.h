#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string_view>

#include "apiserver/base/function.h"
#include "apiserver/base/status.h"

namespace apiserver::inline v0::proxy {

// Limits of upgraded connections that are forwarded: exec, attach, port-forward, WebSockets. Each
// holds two sockets. A direction keeps at most 256 KiB and one read for a slow receiver.
struct PipeLimits {
  // The most pipes at a time. More are refused with kServiceUnavailable.
  std::size_t pipes_max = 20'000;
  // The most pipes of one user. More are refused with kTooManyRequests.
  std::size_t pipes_per_user_max = 2'000;
  // The time in which a connected backend must answer the request for an upgrade.
  std::chrono::milliseconds head_timeout = std::chrono::seconds(30);
  // A pipe on which neither side has sent anything for this long is closed. Zero: never.
  std::chrono::milliseconds idle_timeout = std::chrono::hours(4);
  // The time in which one side must take what is left and end after the other has ended, and in
  // which the answer of a refused upgrade must be over.
  std::chrono::milliseconds flush_timeout = std::chrono::seconds(10);
};

// The pipes of a server. Thread-safe; no method blocks.
class Pipes {
 public:
  virtual ~Pipes() = default;
  // A pipe's place among the others, given back when it is destroyed. Must not outlive the Pipes'
  // last owner.
  class Place {
   public:
    virtual ~Place() = default;
    // Sets the function that CloseAll() calls, on its thread. It is called at once if CloseAll()
    // was called before; it must not block.
    virtual void OnClose(UniqueFunction<void()> close) = 0;
  };
  // Takes a place for a pipe of `user`. kServiceUnavailable: there are pipes_max, or CloseAll() was
  // called; kTooManyRequests: the user has pipes_per_user_max.
  virtual Result<std::unique_ptr<Place>> Enter(std::string_view user) = 0;
  // Returns the number of places that are taken.
  virtual std::size_t open() const = 0;
  // Closes every pipe after what was read from its backend is sent, and refuses new ones. For the
  // end of a server, when other requests are over.
  virtual void CloseAll() = 0;
  virtual const PipeLimits& limits() const = 0;
};

// Makes pipes that have these limits together.
std::shared_ptr<Pipes> NewPipes(const PipeLimits& limits = {});
// Makes pipes of any number, which have the default time limits and can be closed together.
std::shared_ptr<Pipes> NewUnlimitedPipes();

}  // namespace apiserver::inline v0::proxy
