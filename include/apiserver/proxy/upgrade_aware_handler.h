#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "apiserver/auth/user.h"
#include "apiserver/base/status.h"
#include "apiserver/http/exchange.h"
#include "apiserver/proxy/location.h"
#include "apiserver/proxy/pipes.h"
#include "apiserver/proxy/upstream_pool.h"

namespace apiserver::inline v0::proxy {

// Answers a request whose forwarding failed. Called on the exchange's loop; must not block.
using ErrorResponder = std::function<http::Step(http::Exchange&, const Status&)>;

// Answers with a code and a line of plain text. Follows Go's http.Error.
http::Step RespondText(http::Exchange& exchange, int code, std::string_view line);

// Answers with 503 and the error's message as plain text, whatever the error is: the responder of
// the aggregator.
http::Step RespondUnavailable(http::Exchange& exchange, const Status& error);

// Forwards one request to a backend, as k8s.io/apimachinery/pkg/util/proxy.UpgradeAwareHandler
// does. Bodies are streamed in both directions, and a slow reader holds its sender back.
// Credentials and identity headers of the client are never forwarded.
//
// Headers of the connection are left out, X-Forwarded-For is appended, 1xx answers and trailers are
// dropped. A location without a path redirects GET and HEAD to the path with a slash (301).
//
// An upgrade (exec, attach, port-forward, WebSocket) goes over a connection of its own to the
// location's path and query. The client is sent the backend's head unchanged, and from then on
// bytes are passed on in both directions; when one side ends, the other is sent the rest and
// closed. A refusal by the backend (400 and above) is passed on, and both connections are closed.
//
// Errors: kBadRequest: an upgrade is required and was not asked for, or has a body.
// kServiceUnavailable: "error trying to reach service: …", or kUnknown without that prefix if
// `wrap_transport` is false. kInternalError: the backend's Location cannot be read. Of upgrades:
// those of Pipes::Enter; kTimeout: the backend has not answered; kUnknown: "error dialing backend:
// …", "invalid upgrade response: status code 200".
struct UpgradeAwareHandler {
  Location location;
  // Required.
  std::shared_ptr<UpstreamPool> pool;
  // Where to connect instead of the location's host: a host that was looked up and checked must not
  // be looked up again (CVE-2020-8562). nullopt: the location's host.
  std::optional<Endpoint> endpoint = {};
  // The user that the backend is told in X-Remote-* headers. Null: none.
  auth::UserInfoPtr identity = nullptr;
  // Tells the backend X-Forwarded-Uri, -Host and -Proto, lets its Location headers and the links of
  // its HTML pages lead through this server, and removes its CORS headers. Pages of more than 4 MiB
  // are not rewritten.
  bool wrap_transport = false;
  // Refuses requests that do not ask for an upgrade.
  bool upgrade_required = false;
  // Sends the path and query that were asked for, as they were written, instead of the location's.
  bool use_request_location = false;
  // Puts the location's path in front of the path that is sent.
  bool append_location_path = false;
  // Sends the location's host as Host, not the client's.
  bool use_location_host = false;
  // Answers 502 instead of a redirect by the backend, to which a client would send its credentials
  // (CVE-2022-3172).
  bool reject_forwarding_redirects = false;
  // The request counts as one for the location, whose host and query it has. Follows
  // k8s.io/apiserver/pkg/util/proxy.NewRequestForProxy.
  bool new_request = false;
  // Counts and limits upgraded connections. Null: each has the default time limits.
  std::shared_ptr<Pipes> pipes = nullptr;
  // The name of the user whose upgraded connections are counted.
  std::string user = {};
  // The most bytes a second in each direction of an upgraded connection. Zero: there is no limit.
  std::size_t max_bytes_per_sec = 0;
  // Null: errors are returned, and the server writes a Status.
  ErrorResponder responder = nullptr;

  // Forwards the request of `exchange`. A body that was collected before is sent as a whole. On a
  // loop or the pool.
  http::Step ServeHTTP(http::Exchange& exchange) const;
};

}  // namespace apiserver::inline v0::proxy
