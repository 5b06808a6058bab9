#pragma once

#include <cstddef>
#include <memory>

#include "apiserver/base/function.h"
#include "apiserver/base/memory_budget.h"
#include "apiserver/base/status.h"
#include "apiserver/http/dialer.h"
#include "apiserver/http/exchange.h"
#include "apiserver/proxy/pipes.h"
#include "apiserver/proxy/upstream_pool.h"

namespace apiserver::inline v0::proxy {

// An upgrade that is forwarded: asks a backend on a connection of its own, and joins the connection
// with the client's once the backend has switched protocols. Each direction holds its sender back
// while its receiver is slow. No thread waits, and the connection serves nothing else, whatever the
// backend answers (CVE-2018-1002105).
class Pipe {
 public:
  struct Setup {
    std::shared_ptr<UpstreamPool> pool;
    Endpoint endpoint;
    // Has Connection and Host. Without an Upgrade header no answer can switch protocols.
    http::ClientRequestHead head;
    // Null: the pipe is not counted.
    std::unique_ptr<Pipes::Place> place;
    PipeLimits limits;
    // The most bytes a second in each direction. Zero: there is no limit.
    std::size_t bytes_per_second_max = 0;
    std::shared_ptr<MemoryBudget> memory;
  };
  // Receives the head of the answer. Called once, on the pool's loop, unless the pipe was cancelled
  // before; must not block. An error has upstream's words: "error dialing backend: …".
  using Answered = UniqueFunction<void(Result<http::ResponseHead>)>;

  virtual ~Pipe() = default;
  // Dials and sends the request. Called once.
  virtual void Start(Answered answered) = 0;
  // Joins the connection with the client's after a 101, whose head has been sent. Called once.
  virtual void Join(std::unique_ptr<http::Tunnel> client) = 0;
  // Returns the body of an answer other than 101. Destroying it ends the pipe. Called once.
  virtual std::unique_ptr<http::BodySource> Body() = 0;
  // Ends the pipe at once. Any thread.
  virtual void Cancel() = 0;
};

std::shared_ptr<Pipe> NewPipe(Pipe::Setup setup);

}  // namespace apiserver::inline v0::proxy
