#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apiserver/base/function.h"
#include "apiserver/base/status.h"
#include "apiserver/http/exchange.h"
#include "apiserver/http/headers.h"
#include "apiserver/proxy/location.h"
#include "apiserver/proxy/pipes.h"
#include "apiserver/proxy/upstream_pool.h"
#include "proxy/spdy_upgrade.h"

namespace apiserver::inline v0::proxy {

// A request for SPDY/3.1 that a client's WebSocket is to be joined with.
struct SpdyRequest {
  Location location;
  std::shared_ptr<UpstreamPool> pool;
  std::optional<Endpoint> endpoint = {};
  std::shared_ptr<Pipes> pipes = nullptr;
  std::string user = {};
  // The subprotocols offered, the best first.
  std::vector<std::string> protocols = {};
  // The other headers; Host is the location's unless it is here.
  http::Headers headers = {};
};

// A kubelet's answer, with what the joined connection is counted as.
struct SpdyAnswer {
  SpdyUpgrade::Outcome outcome;
  std::unique_ptr<Pipes::Place> place;  // Null: it is not counted.
  PipeLimits limits = {};
};

// Asks the kubelet, and answers the client with the step that `answer` makes of what it says. It is
// called on the exchange's loop, where it must not block.
http::Step AskForSpdy(http::Exchange& exchange, SpdyRequest request,
                      UniqueFunction<http::Step(http::Exchange&, SpdyAnswer)> answer);

// Returns whether a 101 is one to SPDY/3.1.
bool SwitchesToSpdy(const http::ResponseHead& head);

// Returns the error "Internal error occurred: `why`".
Status InternalError(std::string_view why);

}  // namespace apiserver::inline v0::proxy
