#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "apiserver/base/function.h"
#include "apiserver/base/status.h"
#include "apiserver/http/dialer.h"
#include "apiserver/http/message.h"
#include "apiserver/http/stream.h"
#include "apiserver/proxy/pipes.h"
#include "apiserver/proxy/upstream_pool.h"

namespace apiserver::inline v0::proxy {

// Asks a backend to switch to another protocol on a connection of its own. The counterpart of Go's
// httpstream.UpgradeRoundTripper.
class SpdyUpgrade {
 public:
  struct Setup {
    std::shared_ptr<UpstreamPool> pool;
    Endpoint endpoint;
    http::ClientRequestHead head;  // Asks for the upgrade, Host included.
    std::chrono::milliseconds head_timeout = PipeLimits().head_timeout;
  };
  // A backend's 101, and the connection from there on. The stream keeps its connection, tells
  // no head, and is started on the pool's loop.
  struct Switched {
    http::ResponseHead head;
    std::unique_ptr<http::Stream> stream;
  };
  // An answer other than 101, with the front of its body.
  struct Refused {
    http::ResponseHead head;
    std::string body;
  };
  struct Outcome {
    Status error = {};  // Neither of the two came.
    std::optional<Switched> switched = {};
    std::optional<Refused> refused = {};
  };
  // Called once, on the pool's loop, unless it was cancelled before; must not block.
  using Done = UniqueFunction<void(Outcome)>;

  virtual ~SpdyUpgrade() = default;
  // Begins. Called once.
  virtual void Start(Done done) = 0;
  // Gives up. Any thread.
  virtual void Cancel() = 0;
};

std::shared_ptr<SpdyUpgrade> NewSpdyUpgrade(SpdyUpgrade::Setup setup);

}  // namespace apiserver::inline v0::proxy
