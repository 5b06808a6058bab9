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
// What goes over it: HTTP/1.1 requests of any method, answers, lists and watches; an answer is made
// as the client takes it. What does not, and why:
// - Upgrades (exec, WebSockets) and HTTP/2 are answered with 501.
// - There is no client certificate: users have tokens. Headers that begin with "X-Remote-" never
//   reach the server, so no front proxy is believed.
// - cpprestsdk joins headers of the same name with ", ": whoever impersonates two groups by two
//   headers is answered with 400, and so is one group with ", " in its name.
// - What two readers of HTTP/1.1 could cut into different requests is answered with 400 and closed,
//   as far as cpprestsdk lets it be seen: of two Content-Length it shows the last only.
// - A head has no limit of size or time, nor a connection one of idleness: cpprestsdk offers none.
//   Strangers are http::Listen's.
// - A client that has gone is noticed by the next byte that is written to it: let watches ask for
//   bookmarks. A request's body is read by cpprestsdk as fast as it comes, one chunk of it whole;
//   what is over the limit is dropped. A slow one has as long as it likes, and nothing is answered,
//   refusals neither, before cpprestsdk has the body or some KiB of it.
// - closing the listener cuts what is under way, and would wait for open watches for ever: end the
//   mount before. cpprestsdk 2.10 closes connections without a lock against its own reads and
//   writes: a request that arrives in that moment, or whose refusal waits for its body, can crash
//   it. Where clients do not end first, stop the mount and let the process end without closing the
//   listener.
namespace apiserver::inline v0::cpprest {

struct MountOptions {
  std::size_t request_body_bytes_max = 4 << 20;  // Over it: 413, and the connection is closed.
  // Requests under way, watches included; more are answered with 503.
  std::size_t requests_max = 1000;
  bool tls = true;  // Whether the listener speaks https.
};

// Methods from any thread.
class Mount {
 public:
  // Stops.
  virtual ~Mount() = default;
  // For a handler of the host's own that gives some of its requests away.
  virtual void Handle(const web::http::http_request& request) = 0;
  // Ends every answer and stream: those under way break off, what comes is answered with 503. A
  // server that shuts down has ended its watches before. Waits until the answers are written,
  // at most 2 s for clients that do not read them or do not send the rest of a refused body; then
  // the listener can be closed. A client that leaves in the middle of a body after that keeps its
  // connection until the listener closes. Idempotent. Not to be called by the server's own work.
  virtual void Stop() = 0;
};

// Answers all that comes to `listener` and has no handler of its own. Paths are those after the
// listener's. The listener must not be open yet; `service` outlives the mount.
std::unique_ptr<Mount> MountOn(web::http::experimental::listener::http_listener& listener,
                               const http::Service& service, const MountOptions& options = {});
// The same for a host that calls Handle().
std::unique_ptr<Mount> NewMount(const http::Service& service, const MountOptions& options = {});

}  // namespace apiserver::inline v0::cpprest
