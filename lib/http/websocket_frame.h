#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "apiserver/http/websocket.h"

// Frames of RFC 6455, section 5.
namespace apiserver::inline v0::http {

enum class WebSocketOpcode : std::uint8_t {
  kContinuation = 0,
  kText = 1,
  kBinary = 2,
  kClose = 8,
  kPing = 9,
  kPong = 10,
};

// Close codes that only this side gives.
inline constexpr int kWebSocketProtocolError = 1002;
inline constexpr int kWebSocketInvalidData = 1007;
inline constexpr int kWebSocketTooBig = 1009;
// Never on the wire.
inline constexpr int kWebSocketNoCode = 1005;
inline constexpr int kWebSocketAbnormal = 1006;

// Appends one whole, unmasked frame: what a server sends.
void AppendWebSocketFrame(WebSocketOpcode opcode, std::string_view payload, std::string& out);
// The payload of a Close frame; `reason` is cut to what fits, between characters.
std::string WebSocketClosePayload(int code, std::string_view reason);

// Takes what a client sends apart, in whatever pieces it comes. Keeps no more than one message and
// one control frame.
class WebSocketReader {
 public:
  struct Failure {
    int code = 0;
    std::string_view reason;
  };
  class Sink {
   public:
    virtual void OnData(WebSocketMessage message) = 0;
    virtual void OnPing(std::string_view payload) = 0;
    // kWebSocketNoCode: the peer gave none. Nothing follows.
    virtual void OnCloseFrame(int code, std::string_view reason) = 0;

   protected:
    ~Sink() = default;
  };

  explicit WebSocketReader(std::size_t message_bytes_max) : message_bytes_max_(message_bytes_max) {}

  // Uses all of `bytes`. What follows a failure or a Close frame is ignored.
  std::optional<Failure> Receive(std::string_view bytes, Sink& sink);

 private:
  std::size_t HeaderSize() const;
  std::optional<Failure> BeginFrame();
  void TakePayload(std::string_view& bytes);
  std::optional<Failure> EndFrame(Sink& sink);
  std::optional<Failure> EndControl(Sink& sink);
  bool control() const { return static_cast<std::uint8_t>(opcode_) >= 8; }

  const std::size_t message_bytes_max_;
  std::array<std::uint8_t, 14> header_{};
  std::size_t header_bytes_ = 0;
  bool in_payload_ = false;
  bool done_ = false;

  // Of the frame.
  WebSocketOpcode opcode_ = WebSocketOpcode::kContinuation;
  bool final_ = false;
  std::uint64_t left_ = 0;
  std::array<std::uint8_t, 4> mask_{};
  std::size_t mask_at_ = 0;
  std::string control_;

  // Of the message, which may have several frames.
  bool in_message_ = false;
  WebSocketMessage message_;
};

}  // namespace apiserver::inline v0::http
