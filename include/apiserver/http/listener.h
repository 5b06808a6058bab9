#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "apiserver/base/log.h"
#include "apiserver/base/status.h"
#include "apiserver/http/exchange.h"
#include "apiserver/http/tls.h"

namespace apiserver::inline v0::http {

// Limits and addresses of a listener. Defaults are those of k8s.io/apiserver's secure serving.
struct ListenerOptions {
  // An IP literal; "::" and "0.0.0.0" mean all addresses. "unix:<path>": a socket file that only
  // its owner may connect to.
  std::string address = "127.0.0.1";
  int port = 0;  // Zero picks a free one; see Listener::port().
  // A stream socket of the host's that is bound and listens, for example one that systemd passes.
  // It is used instead of one at `address` and `port`, which then only describe it. Listen() owns
  // it from the call on, also after an error, and sets it non-blocking and close-on-exec. Where
  // another process has it, too, connections that come after Drain() wait there. Negative: none.
  int socket = -1;
  // Null: plain HTTP, for tests (h2c with prior knowledge and HTTP/1.1).
  std::shared_ptr<ServerTls> tls = {};
  std::size_t threads = 1;  // Loops; connections are dealt to them in turn.

  std::size_t header_bytes_max = 1 << 20;    // Over it: 431, connection closed.
  std::size_t header_fields_max = 256;       // Likewise; HTTP/2 resets the stream.
  std::size_t body_buffer_bytes = 64 << 10;  // Kept of a body, per stream, before it is wanted.
  std::size_t streams_max = 1000;            // Concurrent HTTP/2 streams per connection.
  std::size_t connections_max = 100'000;     // More are closed at once.
  // The time for a request's head. Over it, the connection is closed.
  std::chrono::milliseconds header_timeout = std::chrono::seconds(32);
  // The time that a connection may wait for its next request.
  std::chrono::milliseconds idle_timeout = std::chrono::seconds(90);
  std::chrono::milliseconds handshake_timeout = std::chrono::seconds(10);
  // How long after Drain() an idle HTTP/1.1 connection stays open for a request that its client may
  // have sent already. Zero closes it at once, as Go's net/http does; bytes that have arrived are
  // read first. A connection without a request so far has a second from its handshake on.
  std::chrono::milliseconds idle_drain = std::chrono::milliseconds(0);
  // How long an HTTP/2 client that is sent away has to answer the PING behind the first GOAWAY,
  // which shows that it has seen that. Then, or with the answer, comes the final GOAWAY and an idle
  // connection closes. The default is that of golang.org/x/net/http2.
  std::chrono::milliseconds goaway_timeout = std::chrono::milliseconds(1000);
  // A peer that takes no bytes for this long while some are waiting is dead: closed.
  std::chrono::milliseconds write_stall_timeout = std::chrono::seconds(60);
  // Called for every handshake that fails, with the peer's address. Runs on a loop; must not wait.
  std::function<void(const std::string& peer, const Status& why)> on_handshake_error = {};
  LogSink* log = &NullLogSink();
};

// Accepts connections and drives their requests through a Service. Methods may be called on any
// thread except the listener's own.
class Listener {
 public:
  virtual ~Listener() = default;
  // The port that is listened on. Zero: a Unix socket.
  virtual int port() const = 0;
  virtual std::string address() const = 0;
  // Stops accepting and returns at once. A connection with requests in flight closes after their
  // answers (Connection: close, GOAWAY). ListenerOptions::idle_drain and goaway_timeout say when an
  // idle one closes.
  virtual void Drain() = 0;
  // Waits until all connections have closed, `longest` at the most. Returns whether they have.
  virtual bool WaitUntilNoConnections(std::chrono::milliseconds longest) = 0;
  // Drains, waits at most `grace` for answers in progress, closes the rest. Idempotent.
  virtual void Stop(std::chrono::milliseconds grace) = 0;
  virtual std::size_t connections() const = 0;
};

// Binds and starts. `service` must outlive the listener. kConflict: the address is taken. kInvalid:
// the address is none, or ListenerOptions::socket does not listen.
Result<std::unique_ptr<Listener>> Listen(ListenerOptions options, const Service& service);

}  // namespace apiserver::inline v0::http
