#pragma once  // Library-internal: other rooms include this header.

#include <memory>
#include <optional>
#include <string>

#include "apiserver/base/clock.h"
#include "apiserver/base/context.h"
#include "apiserver/base/function.h"
#include "apiserver/base/memory_budget.h"
#include "apiserver/base/status.h"
#include "apiserver/http/dialer.h"
#include "apiserver/http/exchange.h"
#include "apiserver/http/stream.h"
#include "apiserver/proxy/upstream_pool.h"

namespace apiserver::inline v0::proxy {

// A request that is sent to a backend while its body comes, and the answer, which is passed on
// while it comes. Each direction holds back its sender while its receiver is slow. No thread waits.
class RoundTrip {
 public:
  struct Setup {
    std::shared_ptr<UpstreamPool> pool;
    Endpoint endpoint;
    http::ClientRequestHead head;
    // The body, not started. Null: there is none.
    std::unique_ptr<http::ReadStream> body;
    // A body that was read before, instead. Null: there is none.
    std::shared_ptr<const std::string> whole_body = nullptr;
    // Gives up if the head of the answer has not come until then.
    std::optional<Clock::Monotonic> deadline;
    // Counts the bytes of the answer that are kept, for the tenant of `head`. Null: they are not
    // counted.
    std::shared_ptr<MemoryBudget> memory;
  };
  // Receives the head of the answer, or the reason why there is none. Called once, on the pool's
  // loop, unless the trip was cancelled before; must not block.
  using Answered = UniqueFunction<void(Result<http::ResponseHead>)>;

  virtual ~RoundTrip() = default;
  // Gets a connection and sends the request. A request without a body is repeated once on a new
  // connection if a kept one turns out to be closed. Called once.
  virtual void Start(Answered answered) = 0;
  // Returns the body of the answer. Called once, after the head has come. Destroying it ends the
  // trip.
  virtual std::unique_ptr<http::BodySource> Body() = 0;
  // Ends the trip. Any thread.
  virtual void Cancel() = 0;
};

// Makes a trip that has not started.
std::shared_ptr<RoundTrip> NewRoundTrip(RoundTrip::Setup setup);

}  // namespace apiserver::inline v0::proxy
