#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "apiserver/http/dialer.h"
#include "http/client_stream.h"
#include "http/protocol.h"

namespace apiserver::inline v0::http {

// An answer whose head is larger than this, or has more fields, is given up.
inline constexpr std::size_t kAnswerHeadBytesMax = 1 << 20;
inline constexpr std::size_t kAnswerHeadFieldsMax = 1000;

inline Status HeadTooLarge() {
  return Status(Reason::kServiceUnavailable, "the answer's head is too large")
      .WithDetails({.causes = {{.reason = std::string(kAnswerTooLargeCause)}}});
}

inline Status NeverSent() {
  return Status(Reason::kServiceUnavailable, "the connection takes no more requests")
      .WithDetails({.causes = {{.reason = std::string(kUnansweredCause)}}});
}

// `why`, unless it has a cause already, with the mark that nothing of the answer has come.
inline Status Unanswered(const Status& why) {
  if (why.details() != nullptr) return why;
  return why.WithDetails({.causes = {{.reason = std::string(kUnansweredCause)}}});
}

// One request of a client, as long as its protocol works on it. Of the loop.
struct ClientCall {
  ClientRequest request;
  std::shared_ptr<ClientSink> sink;
  std::size_t sent = 0;      // Of the body.
  std::int32_t stream = -1;  // HTTP/2.
  bool cancelled = false;
  bool ended = false;

  void End(const Status& status) {
    if (ended) return;
    ended = true;
    sink->OnEnd(status);
    sink.reset();
  }
};

// A client's side of a connection.
class ClientProtocol : public Protocol {
 public:
  virtual void Start(std::shared_ptr<ClientCall> call) = 0;
  virtual void Cancel(const std::shared_ptr<ClientCall>& call) = 0;
  virtual void Consume(const std::shared_ptr<ClientCall>& call, std::size_t bytes) = 0;
  virtual void Write(const std::shared_ptr<ClientCall>& call, std::string bytes) = 0;
  // Several requests at a time.
  virtual bool multiplexed() const { return false; }
  // No new requests: the server said so, or the connection cannot be used again.
  virtual bool closing() const = 0;
};

struct ClientSetup {
  std::chrono::milliseconds ping_interval{};  // Of HTTP/2; zero: never.
  std::chrono::milliseconds ping_timeout{};
  std::string authority;  // For requests without a Host header.
  std::string scheme = "http";
  std::size_t window_bytes = 0;
};

std::unique_ptr<ClientProtocol> NewHttp1Client(Wire& wire, ClientSetup setup);
std::unique_ptr<ClientProtocol> NewHttp2Client(Wire& wire, ClientSetup setup);

}  // namespace apiserver::inline v0::http
