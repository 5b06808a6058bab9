#pragma once

#include <nghttp2/nghttp2.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "http/driver.h"
#include "http/nghttp2_session.h"
#include "http/protocol.h"

namespace apiserver::inline v0::http {

// What a stream needs of the connection it belongs to.
class Http2Connection {
 public:
  virtual nghttp2_session* session() = 0;
  virtual Wire& wire() = 0;
  virtual void Drain() = 0;

 protected:
  ~Http2Connection() = default;
};

// One request on an HTTP/2 connection, from its first header to the end of its answer. On the loop.
// NOLINTNEXTLINE(cppcoreguidelines-virtual-class-destructor): nothing derives from it
class Http2Stream final : public ServerStream {
 public:
  Http2Stream(Http2Connection& connection, std::int32_t id)
      : request(std::make_unique<Request>()), connection_(connection), id_(id) {}

  void OnAnswer() override;
  void OnBodyReady() override;
  void OnBodyWanted() override;
  void OnBodyConsumed(std::size_t bytes) override;
  void Cut() override;

  // What nghttp2 pulls DATA from.
  ssize_t Read(std::span<char> out, std::uint32_t& flags);
  bool sending() const { return sending_ && !ended_; }
  bool waits() const { return dry_; }
  bool aborted() const { return aborted_; }

  // While its head arrives; then the exchange has it.
  std::unique_ptr<Request> request;
  std::size_t fields = 0;
  std::size_t head_bytes = 0;
  bool has_length = false;
  std::uint64_t length = 0;
  bool expect_continue = false;
  bool refused = false;  // The head is too large: 431.
  bool remote_ended = false;
  // Set once the answer is complete and the request is not.
  std::optional<std::size_t> discard_left;
  std::shared_ptr<ExchangeDriver> exchange;

  std::int32_t id() const { return id_; }
  // Of the connection's list of streams.
  Http2Stream* previous = nullptr;
  std::unique_ptr<Http2Stream> next;

 private:
  void Submit(const HeaderBlock& block, bool with_body);

  Http2Connection& connection_;
  const std::int32_t id_;
  bool sending_ = false;
  bool ended_ = false;
  bool aborted_ = false;
  bool dry_ = false;       // The source waits.
  bool deferred_ = false;  // And nghttp2 has been told.
};

}  // namespace apiserver::inline v0::http
