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
#include "apiserver/base/status.h"
#include "apiserver/http/exchange.h"
#include "apiserver/http/message.h"
#include "apiserver/http/stream.h"
#include "apiserver/http/tls.h"

// The listener's transport turned outbound: streams, upgrades and HTTP/2, for tests, watches,
// proxying and benchmarks.
namespace apiserver::inline v0::http {

struct DialOptions {
  std::string host = "127.0.0.1";
  int port = 0;
  std::optional<ClientTls> tls = {};  // Absent: plain.
  bool http2 = true;                  // False: HTTP/1.1, one request at a time on the connection.
  std::chrono::milliseconds connect_timeout = std::chrono::seconds(10);
  // Unread bytes of one response; the server is held back when so much waits.
  std::size_t window_bytes = 1 << 20;
  // An HTTP/2 server that has sent nothing for so long is sent a PING; one that then sends nothing
  // for ping_timeout is dead: the connection is closed. Zero: it is not asked.
  std::chrono::milliseconds ping_interval = std::chrono::milliseconds(0);
  std::chrono::milliseconds ping_timeout = std::chrono::seconds(15);
  // A server that takes no bytes for this long while some are waiting is disconnected.
  std::chrono::milliseconds write_stall_timeout = std::chrono::hours(1);
};

// Causes in the details of errors (Status::details()): the server reset the connection; it sent a
// longer head than is read; the connection ended before anything of the answer had come.
inline constexpr std::string_view kConnectionResetCause = "ConnectionReset";
inline constexpr std::string_view kAnswerTooLargeCause = "AnswerTooLarge";
inline constexpr std::string_view kUnansweredCause = "Unanswered";

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
};

struct ClientResponse {
  int code = 0;
  Headers headers = {};
  std::string body = {};
};

// A response read as it arrives. Used by one thread at a time; Cancel() from any.
class ClientStream {
 public:
  virtual ~ClientStream() = default;  // Cancels.
  // Waits for the head. kTimeout: `ctx` was done first; kServiceUnavailable: connection lost.
  virtual Result<ResponseHead> Head(const Context& ctx) = 0;
  // Waits for some bytes of the body; empty: it is complete. Errors as Head.
  virtual Result<std::string> Read(const Context& ctx) = 0;
  // After a 101: the raw connection's other direction.
  virtual Status Write(std::string_view bytes) = 0;
  virtual void Cancel() = 0;
};

// A response told as it arrives, without a thread that waits. Called on the connection's loop, in
// this order; must not wait.
class StreamObserver {
 public:
  virtual ~StreamObserver() = default;
  virtual void OnHead(const ResponseHead& head) = 0;
  virtual void OnData(std::string_view bytes) = 0;
  // Exactly once, last. OK: the response is complete. kServiceUnavailable: connection lost or
  // stream reset; kTimeout: cancelled.
  virtual void OnEnd(const Status& status) = 0;
};

// One connection to one server. Thread-safe; waits, so never used on a loop.
class Connection {
 public:
  virtual ~Connection() = default;
  virtual Result<ClientResponse> Call(const Context& ctx, const ClientRequest& request) = 0;
  virtual Result<std::unique_ptr<ClientStream>> Open(const ClientRequest& request) = 0;
  // Does not wait: `observer` is told, and kept until its end. Calling what is returned cancels;
  // dropping it does not. kMethodNotAllowed: this connection cannot.
  virtual Result<Executor::Cancel> Observe(ClientRequest request,
                                           std::shared_ptr<StreamObserver> observer);
  // Sends `head` at once and returns the stream of the request's body and the response. Does not
  // wait, and needs no thread that waits: the sink given to Stream::Start is called on the
  // connection's loop, with OnHead first. 1xx responses are skipped, trailers are dropped.
  //
  // Write and CloseWrite send the body. What is longer or shorter than head.body_bytes ends the
  // stream with kInvalid. Host is added if it is missing; Content-Length and Transfer-Encoding are
  // replaced. While the reader pauses, HTTP/1.1 does not read the socket, and HTTP/2 does not
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
  // response's body follows, and the connection closes. What is written before the response has
  // come is kept until 101, and dropped otherwise.
  //
  // kInvalid: the head is malformed, has no Host, announces a body or does not ask for an upgrade.
  // kMethodNotAllowed: HTTP/2, or this connection cannot do it. For the rest see OpenStream.
  virtual Result<std::unique_ptr<Stream>> OpenUpgrade(ClientRequestHead head);
  // The server said GOAWAY or Connection: close, or the connection broke.
  virtual bool closed() const = 0;
  // Returns whether requests are answered side by side (HTTP/2), not one after the other.
  virtual bool multiplexed() const { return false; }
};

// Owns the client's loop thread and, once a name was looked up, the resolver's; connections must
// not outlive it. The destructor waits for a look-up in progress, and must not run on the loop.
class Dialer {
 public:
  virtual ~Dialer() = default;
  // How a dial ended. Errors: kInvalid: TLS material or address; kTimeout; kServiceUnavailable, in
  // Go's words: "dial tcp 10.0.0.1:443: connect: connection refused", "tls: hostname mismatch".
  using Dialed = UniqueFunction<void(Result<std::unique_ptr<Connection>>)>;
  // Does not wait: looks the name up elsewhere, connects to its addresses in turn and shakes hands
  // on the loop. `done` is called once, on the loop or, for what is wrong at once, by the caller's
  // thread; it must not wait. Calling what is returned ends the dial with kTimeout.
  virtual Executor::Cancel DialLater(const DialOptions& options, Dialed done) = 0;
  // Waits for the same.
  virtual Result<std::unique_ptr<Connection>> Dial(const Context& ctx,
                                                   const DialOptions& options) = 0;
  // The thread on which observers and `Dialed` are called.
  virtual Executor& loop() = 0;
};
std::unique_ptr<Dialer> NewDialer();

}  // namespace apiserver::inline v0::http
