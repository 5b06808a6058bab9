#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "apiserver/base/context.h"
#include "apiserver/base/executor.h"
#include "apiserver/base/function.h"
#include "apiserver/base/memory_budget.h"
#include "apiserver/base/status.h"
#include "apiserver/http/exchange.h"
#include "apiserver/http/message.h"
#include "apiserver/http/stream.h"
#include "apiserver/http/tls.h"

// The client's side of the listener's transport: streams, upgrades and HTTP/2, for proxies,
// watches, tests and benchmarks.
namespace apiserver::inline v0::http {

// One dial: the address, the protocol and the limits of the connection.
struct DialOptions {
  std::string host = "127.0.0.1";  // An IP literal, a name, or "unix:<path>".
  int port = 0;
  std::optional<ClientTls> tls = {};  // Absent: plain.
  bool http2 = true;                  // False: HTTP/1.1, one request at a time on the connection.
  std::chrono::milliseconds connect_timeout = std::chrono::seconds(10);
  // The unread bytes of one response at which the server is held back.
  std::size_t window_bytes = 1 << 20;
  // An HTTP/2 server that has sent nothing for this long is sent a PING. If nothing comes for
  // ping_timeout after it, the connection is closed. Zero: no PINGs are sent.
  std::chrono::milliseconds ping_interval = std::chrono::milliseconds(0);
  std::chrono::milliseconds ping_timeout = std::chrono::seconds(15);
  // Sends PINGs also while no request is in progress. gRPC servers close connections that do.
  bool ping_when_idle = true;
  // A server that takes no bytes for this long while some are waiting is disconnected.
  std::chrono::milliseconds write_stall_timeout = std::chrono::hours(1);
  // Counts what the streams of the connection keep: in `output` the bytes that have come and were
  // not read, in `bodies` those that were written and are not sent. They are counted whether or not
  // there is room, since each stream has its own limit. Null: they are not counted. A proxy gives
  // its server's budget, GenericAPIServer::memory().
  std::shared_ptr<MemoryBudget> memory = nullptr;
};

// The causes in the details of errors (Status::details()): the server reset the connection; the
// response's head was longer than a client reads; the connection ended before any of the response
// had come, or the server refused the stream (REFUSED_STREAM, GOAWAY) and has done nothing, so that
// another connection may have the request.
inline constexpr std::string_view kConnectionResetCause = "ConnectionReset";
inline constexpr std::string_view kAnswerTooLargeCause = "AnswerTooLarge";
inline constexpr std::string_view kUnansweredCause = "Unanswered";
// A second cause beside kUnansweredCause: the server has certainly not begun to work on the
// request, since it was never sent or the server refused its stream.
inline constexpr std::string_view kNotBegunCause = "NotBegun";

// A request whose body is complete.
struct ClientRequest {
  std::string method = "GET";
  std::string target = {};  // "/apis/x?watch=1".
  Headers headers = {};
  std::string body = {};
};

// The head of a request whose body is written while it is sent.
struct ClientRequestHead {
  std::string method = "GET";
  std::string target = {};  // "/apis/x?watch=1".
  Headers headers = {};
  // The length of the body, which is sent as Content-Length. Zero: there is no body. nullopt: the
  // length is unknown, and HTTP/1.1 sends the body in chunks.
  std::optional<std::uint64_t> body_bytes = 0;
  // The party that DialOptions::memory charges what OpenStream() and OpenUpgrade() keep. A proxy
  // gives that of the request it passes on: exchange.decoding().tenant().
  Tenant tenant = {};
};

// A response that was read to its end.
struct ClientResponse {
  int code = 0;
  Headers headers = {};
  std::string body = {};
};

// A response that a thread reads as it arrives. Used by one thread at a time, except for Cancel().
// Destroying it cancels.
class ClientStream {
 public:
  virtual ~ClientStream() = default;
  // Waits for the head. kTimeout: `ctx` was done first; kServiceUnavailable: connection lost.
  virtual Result<ResponseHead> Head(const Context& ctx) = 0;
  // Waits for some bytes of the body; empty: it is complete. Errors as Head.
  virtual Result<std::string> Read(const Context& ctx) = 0;
  // Writes to the raw connection after a 101. Piles up without limit: see OpenUpgrade.
  virtual Status Write(std::string_view bytes) = 0;
  virtual void Cancel() = 0;
};

// Receives a response as it arrives, without a thread that waits. Called on the connection's loop,
// in this order; must not wait. It cannot hold the server back: see OpenStream.
class StreamObserver {
 public:
  virtual ~StreamObserver() = default;
  virtual void OnHead(const ResponseHead& head) = 0;  // Called first.
  virtual void OnData(std::string_view bytes) = 0;    // Borrows some bytes of the body.
  // Takes the trailers, after the last OnData: over HTTP/2, if there are any.
  virtual void OnTrailers(const Headers& /*trailers*/) {}
  // Called exactly once, last. OK: the response is complete. kServiceUnavailable: the connection
  // was lost or the stream reset; kTimeout: cancelled.
  virtual void OnEnd(const Status& status) = 0;
};

// One connection to one server. Thread-safe. Call() and the reads of Open() wait, so that they are
// never used on a loop.
class Connection {
 public:
  virtual ~Connection() = default;
  // Sends a request and waits for the whole response.
  virtual Result<ClientResponse> Call(const Context& ctx, const ClientRequest& request) = 0;
  // Sends a request whose response is read as it arrives.
  virtual Result<std::unique_ptr<ClientStream>> Open(const ClientRequest& request) = 0;
  // Sends a request without waiting. `observer` is told the response, and kept until its end.
  // Calling the returned function cancels; dropping it does not. kMethodNotAllowed: this connection
  // cannot do it.
  virtual Result<Executor::Cancel> Observe(ClientRequest request,
                                           std::shared_ptr<StreamObserver> observer);
  // Sends `head` at once (over HTTP/1.1 when the requests before it are over) and returns the
  // stream of the request's body and the response. No thread waits: the sink given to Stream::Start
  // is called on the connection's loop, with OnHead first. 1xx responses are skipped; trailers are
  // told over HTTP/2 and dropped over HTTP/1.1. The counterpart of Go's http.Transport.RoundTrip.
  //
  // Write and CloseWrite send the body. A body that is longer or shorter than head.body_bytes ends
  // the stream with kInvalid. Host is added if it is missing; Content-Length and Transfer-Encoding
  // are replaced. While the reader pauses, HTTP/1.1 does not read the socket, and HTTP/2 does not
  // replenish the stream's window, so that at most DialOptions::window_bytes are kept here.
  //
  // OnEnd with OK: the response is complete. Over HTTP/2 the rest of the body may still be sent;
  // over HTTP/1.1 it is dropped, and the connection closes. kServiceUnavailable: the connection was
  // lost, or the server reset the stream; kTimeout: cancelled, or the server took no bytes for
  // write_stall_timeout. Destroying the stream cancels it, and destroying the connection ends its
  // streams.
  //
  // kInvalid: the head is malformed. kMethodNotAllowed: this connection cannot do it.
  virtual Result<std::unique_ptr<Stream>> OpenStream(ClientRequestHead head);
  // Sends `head` exactly as it is (the names' case, their order, Upgrade and Connection; nothing is
  // added or removed) and returns the stream of the protocol that the server switches to. OnHead
  // tells the response's head. After 101 both directions carry raw bytes, and each may be ended
  // before the other: OnEnd with OK is the peer's end, CloseWrite is ours. After any other code the
  // response's body follows, and the connection closes. Bytes written before the response has come
  // are kept until 101, and dropped otherwise. Follows k8s.io/apimachinery's UpgradeAwareHandler,
  // which loses such bytes.
  //
  // kInvalid: the head is malformed, has no Host, announces a body or does not ask for an upgrade.
  // kMethodNotAllowed: HTTP/2, or this connection cannot do it. For the rest see OpenStream.
  virtual Result<std::unique_ptr<Stream>> OpenUpgrade(ClientRequestHead head);
  // Returns whether the server said GOAWAY or Connection: close, or the connection broke.
  virtual bool closed() const = 0;
  // Returns whether requests are answered side by side (HTTP/2), not one after the other.
  virtual bool multiplexed() const { return false; }
  // Returns the certificates that the server has shown, its own first. They were verified if the
  // dial said so. Null: the connection has no TLS, or cannot tell.
  virtual std::shared_ptr<const PeerCertificates> ServerCertificates() const { return nullptr; }
};

// Dials servers. One of NewDialer() owns the clients' loop thread and, once a name was looked up,
// the resolver's; its destructor waits for a look-up in progress, and must not run on the loop. One
// of On() owns no thread and may end anywhere. Connections end with their dialer. Thread-safe.
class Dialer {
 public:
  virtual ~Dialer() = default;
  // Takes the outcome of a dial. kInvalid: TLS material or address; kTimeout; kServiceUnavailable,
  // in Go's words: "dial tcp 10.0.0.1:443: connect: connection refused", "tls: hostname mismatch".
  using Dialed = UniqueFunction<void(Result<std::unique_ptr<Connection>>)>;
  // Dials without waiting: looks the name up on another thread, connects to its addresses in turn
  // and shakes hands on the loop. `done` is called once, on the loop, or on the caller's thread for
  // an error that is known at once; it must not wait. Calling the returned function ends the dial
  // with kTimeout.
  virtual Executor::Cancel DialLater(const DialOptions& options, Dialed done) = 0;
  // Dials and waits for the outcome, or for the end of `ctx`.
  virtual Result<std::unique_ptr<Connection>> Dial(const Context& ctx,
                                                   const DialOptions& options) = 0;
  // The loop on which observers, sinks and `Dialed` are called.
  virtual Executor& loop() = 0;
  // Returns a dialer whose connections live on `loop`, that of an exchange
  // (Exchange::shared_loop()), so that a server forwards requests without a second thread. They end
  // with it, with this dialer, and when the loop stops. Null: this dialer has only its own loop.
  virtual std::shared_ptr<Dialer> On(const std::shared_ptr<Loop>& loop);
  // Returns whether the loop has stopped, or the dialer that made this one has gone: there are no
  // connections any more. False for a dialer with a loop of its own.
  virtual bool ended() const { return false; }
};
std::unique_ptr<Dialer> NewDialer();

}  // namespace apiserver::inline v0::http
