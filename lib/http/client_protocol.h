#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>

#include "apiserver/http/dialer.h"
#include "http/client_call.h"
#include "http/protocol.h"

namespace apiserver::inline v0::http {

// The limits of a response's head. Over either, the call fails with kAnswerTooLargeCause.
inline constexpr std::size_t kAnswerHeadBytesMax = 1 << 20;
inline constexpr std::size_t kAnswerHeadFieldsMax = 1000;

// The error for a response whose head is over a limit.
inline Status HeadTooLarge() {
  return Status(Reason::kServiceUnavailable, "the answer's head is too large")
      .WithDetails({.causes = {{.reason = std::string(kAnswerTooLargeCause)}}});
}

// Returns `why` with kNotBegunCause: the server has not begun to work on the request.
inline Status NotBegun(const Status& why) {
  return why.WithDetails({.causes = {{.reason = std::string(kUnansweredCause)},
                                     {.reason = std::string(kNotBegunCause)}}});
}

// The error for a call of which nothing was sent. Another connection may have it.
inline Status NeverSent() {
  return NotBegun(Status(Reason::kServiceUnavailable, "the connection takes no more requests"));
}

// Returns `why` with kUnansweredCause, unless it has a cause already.
inline Status Unanswered(const Status& why) {
  if (why.details() != nullptr) return why;
  return why.WithDetails({.causes = {{.reason = std::string(kUnansweredCause)}}});
}

// A client's side of a connection. On the loop only.
class ClientProtocol : public Protocol {
 public:
  // Begins a call. HTTP/1.1 keeps it until the calls before it are over.
  virtual void Start(std::shared_ptr<ClientCall> call) = 0;
  // Gives a call up: it fails with `why`, and the peer learns that nothing more is wanted.
  virtual void Abort(const std::shared_ptr<ClientCall>& call, const Status& why) = 0;
  // Takes the reader's word that so many bytes of the response are read.
  virtual void Consume(const std::shared_ptr<ClientCall>& call, std::size_t bytes) = 0;
  // Called after the body of `call` has grown, or has been closed.
  virtual void OnBody(const std::shared_ptr<ClientCall>& call) = 0;
  // Returns whether several requests may be in flight at a time.
  virtual bool multiplexed() const { return false; }
  // Returns whether new requests are refused: the server said so, or the connection cannot be used
  // again.
  virtual bool closing() const = 0;
};

// The settings of a client's side of a connection.
struct ClientSetup {
  std::chrono::milliseconds ping_interval{};  // HTTP/2 only. Zero: no PINGs are sent.
  std::chrono::milliseconds ping_timeout{};
  bool ping_when_idle = true;
  std::string authority;  // The Host of requests without one.
  std::string scheme = "http";
  std::size_t window_bytes = 0;
};

// Make a client's side. `wire` must outlive it.
std::unique_ptr<ClientProtocol> NewHttp1Client(Wire& wire, ClientSetup setup);
std::unique_ptr<ClientProtocol> NewHttp2Client(Wire& wire, ClientSetup setup);

}  // namespace apiserver::inline v0::http
