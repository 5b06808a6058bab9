#pragma once

#include <cstddef>
#include <memory>

#include "apiserver/http/exchange.h"

namespace web::http {
class http_request;
}
namespace web::http::experimental::listener {
class http_listener;
}

// A server in a program's own cpprestsdk http_listener: for a program that has one already and
// wants to add /apis to it. http::Listen is the better listener.
//
// It supports HTTP/1.1 requests of any method, responses, lists and watches; a response is made as
// fast as the client reads it. Its limits, and the reasons:
// - Upgrades (exec, WebSockets) and HTTP/2 are answered with 501.
// - There is no client certificate: users have tokens. Headers that begin with "X-Remote-" never
//   reach the server, so no front proxy is trusted.
// - cpprestsdk joins headers of the same name with ", ": a request that impersonates two groups by
//   two headers is answered with 400, and so is one group with ", " in its name.
// - A request that two readers of HTTP/1.1 could split differently is answered with 400 and closed,
//   as far as cpprestsdk shows it: of two Content-Length it shows only the last.
// - A head has no limit of size or time, nor a connection one of idleness: cpprestsdk offers none.
//   Untrusted clients belong to http::Listen.
// - A client that has gone is noticed by the next byte that is written to it: let watches ask for
//   bookmarks. cpprestsdk reads a request's body as fast as it comes, one whole chunk at a time;
//   bytes over the limit are dropped. A slow body has no time limit, and no response, not even a
//   refusal, is sent before cpprestsdk has the body or some KiB of it.
// - Closing the listener cuts running responses, and would wait for open watches forever: stop the
//   mount before. cpprestsdk 2.10 closes connections without a lock against its own reads and
//   writes: a request that arrives in that moment, or whose refusal waits for its body, can crash
//   it. If clients do not end first, stop the mount and let the process end without closing the
//   listener.
namespace apiserver::inline v0::cpprest {

// The limits of a mount.
struct MountOptions {
  // A larger body is answered with 413, and the connection is closed.
  std::size_t request_body_bytes_max = 4 << 20;
  // Limits the running requests, watches included; more are answered with 503.
  std::size_t requests_max = 1000;
  bool tls = true;  // True if the listener speaks https.
};

// A server in a listener. Any thread may call its methods.
class Mount {
 public:
  // Stops.
  virtual ~Mount() = default;
  // Answers one request, for a handler of the host that passes some of its requests on.
  virtual void Handle(const web::http::http_request& request) = 0;
  // Ends every response and stream: running ones break off, new ones are answered with 503. A
  // server that shuts down has ended its watches before. Waits until the responses are written, at
  // most 2 s for clients that do not read them or do not send the rest of a refused body; then the
  // listener can be closed. A client that leaves in the middle of a body after that keeps its
  // connection until the listener closes. Idempotent. The server's own work must not call it.
  virtual void Stop() = 0;
};

// Answers all requests to `listener` that have no handler of their own. Paths are those after the
// listener's. The listener must not be open yet; `service` must outlive the mount.
std::unique_ptr<Mount> MountOn(web::http::experimental::listener::http_listener& listener,
                               const http::Service& service, const MountOptions& options = {});
// Makes a mount for a host that calls Handle().
std::unique_ptr<Mount> NewMount(const http::Service& service, const MountOptions& options = {});

}  // namespace apiserver::inline v0::cpprest
