#pragma once

#include <nghttp2/nghttp2.h>

#include <cstddef>
#include <cstdint>
#include <memory>

#include "http/driver.h"
#include "http/nghttp2_session.h"
#include "http/protocol.h"
#include "http/session_output.h"

namespace apiserver::inline v0::http {

// NOLINTNEXTLINE(cppcoreguidelines-virtual-class-destructor): nothing derives from it
class Http2Stream;

// A stream's view of the connection that it belongs to.
class Http2Connection {
 public:
  virtual nghttp2_session* session() = 0;
  virtual Wire& wire() = 0;
  virtual SessionOutput& output() = 0;
  // Begins a graceful GOAWAY.
  virtual void Drain() = 0;
  // Returns whether the connection calls SubmitAnswer() of `stream` itself, before its next output.
  virtual bool TakesAnswer(Http2Stream& stream) = 0;

 protected:
  ~Http2Connection() = default;
};

// One request on an HTTP/2 connection, from its first header to the end of its answer. Used on the
// loop only.
// NOLINTNEXTLINE(cppcoreguidelines-virtual-class-destructor): nothing derives from it
class Http2Stream final : public ServerStream {
 public:
  Http2Stream(Http2Connection& connection, std::int32_t id)
      : asked(std::make_unique<Asked>()), id_(id), connection_(connection) {}

  void OnAnswer() override;
  void OnBodyReady() override;
  void OnBodyWanted() override;
  void OnBodyConsumed(std::size_t bytes) override;
  void Cut() override;

  // Gives nghttp2 the answer.
  void SubmitAnswer();
  // Called when nghttp2 has sent a head.
  void OnHeadSent();
  // Puts the next DATA frame of the answer, of up to `size` bytes, into the connection's output.
  // Returns what a data source returns.
  ssize_t Read(std::size_t size, std::uint32_t& flags);
  // Returns whether a body is being sent.
  bool sending() const { return sending_ && !ended_; }
  // Returns whether the body's source has nothing to send now.
  bool waits() const { return dry_; }
  // Returns whether the body's source has given up.
  bool aborted() const { return aborted_; }

  // Set while the head arrives; then the exchange has it.
  std::unique_ptr<Asked> asked;
  // Counted against the listener's limits.
  std::size_t head_bytes = 0;
  std::uint64_t length = 0;  // The Content-Length, if there is one.
  // Null before the head is complete, and after the answer is over.
  std::shared_ptr<ExchangeDriver> exchange;

  // Links of the connection's list of streams.
  Http2Stream* previous = nullptr;
  std::unique_ptr<Http2Stream> next;

  std::int32_t id() const { return id_; }
  std::uint32_t fields = 0;  // Counted against the listener's limits.
  // The bytes of the request that are still dropped, if it `discards`.
  std::uint32_t discard_left = 0;
  bool has_length = false;
  bool expect_continue = false;
  bool refused = false;       // The head is too large: 431.
  bool remote_ended = false;  // The request is complete.
  bool discards = false;      // The answer was complete before the request.

 private:
  void SubmitHead(const HeaderBlock& block);
  void SubmitData();
  // Returns whether the client takes bytes of this stream now.
  bool HasWindow() const;
  // Returns whether the whole body may come without another WINDOW_UPDATE, which would be a send of
  // its own while the request is worked on.
  bool FitsWindow() const;

  // nghttp2's order for DATA of a stream. It takes 160 bytes, so that one that waits has none.
  enum class Order : std::uint8_t {
    kNotYet,    // The head has not been sent.
    kNone,      // There was nothing to send.
    kGiven,     // nghttp2 asks when there is window.
    kDeferred,  // nghttp2 has asked in vain, and must be told when there are bytes.
  };

  bool sending_ = false;
  bool ended_ = false;
  bool aborted_ = false;
  bool dry_ = false;        // The source waits.
  bool is_stream_ = false;  // The body is one that may wait for hours.
  Order order_ = Order::kNotYet;
  const std::int32_t id_;
  Http2Connection& connection_;
};

// A server has one for each watch, and the allocator gives each that is larger 112 bytes.
static_assert(sizeof(Http2Stream) <= 96);

}  // namespace apiserver::inline v0::http
