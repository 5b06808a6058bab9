#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "apiserver/http/websocket.h"

// Frames of RFC 6455, section 5, as bytes: what a server reads and writes.
namespace apiserver::inline v0::http {

// The opcodes of RFC 6455, 5.2. Others are refused.
enum class WebSocketOpcode : std::uint8_t {
  kContinuation = 0,
  kText = 1,
  kBinary = 2,
  kClose = 8,
  kPing = 9,
  kPong = 10,
};

// Close codes that this side gives on its own account.
inline constexpr int kWebSocketProtocolError = 1002;
inline constexpr int kWebSocketInvalidData = 1007;
inline constexpr int kWebSocketTooBig = 1009;
// Close codes that are reported to the host and never sent.
inline constexpr int kWebSocketNoCode = 1005;
inline constexpr int kWebSocketAbnormal = 1006;

// Appends one whole, unmasked frame, as a server sends it.
void AppendWebSocketFrame(WebSocketOpcode opcode, std::string_view payload, std::string& out);
// Returns the payload of a Close frame. `reason` is cut to 123 bytes, between characters.
std::string WebSocketClosePayload(int code, std::string_view reason);

// Decodes the frames of a client, in whatever pieces they come. Keeps one message and one control
// frame at the most.
class WebSocketReader {
 public:
  // A violation of the protocol, with the code and the reason to close with.
  struct Failure {
    int code = 0;
    std::string_view reason;
  };
  // Receives what the frames carry.
  class Sink {
   public:
    // Takes one whole message, put together from its fragments.
    virtual void OnData(WebSocketMessage message) = 0;
    virtual void OnPing(std::string_view payload) = 0;
    // Takes the peer's Close. kWebSocketNoCode: the peer gave no code. Nothing follows.
    virtual void OnCloseFrame(int code, std::string_view reason) = 0;

   protected:
    ~Sink() = default;
  };

  explicit WebSocketReader(std::size_t message_bytes_max) : message_bytes_max_(message_bytes_max) {}

  // Decodes all of `bytes`. Bytes after a failure or a Close frame are ignored.
  std::optional<Failure> Receive(std::string_view bytes, Sink& sink);

 private:
  std::size_t HeaderSize() const;
  // Checks a complete header.
  std::optional<Failure> BeginFrame();
  void TakePayload(std::string_view& bytes);
  // Tells the sink what a complete frame carries.
  std::optional<Failure> EndFrame(Sink& sink);
  std::optional<Failure> EndControl(Sink& sink);
  bool control() const { return static_cast<std::uint8_t>(opcode_) >= 8; }

  const std::size_t message_bytes_max_;
  std::array<std::uint8_t, 14> header_{};
  std::size_t header_bytes_ = 0;
  bool in_payload_ = false;
  bool done_ = false;

  // The state of the current frame.
  WebSocketOpcode opcode_ = WebSocketOpcode::kContinuation;
  bool final_ = false;
  std::uint64_t left_ = 0;
  std::array<std::uint8_t, 4> mask_{};
  std::size_t mask_at_ = 0;
  std::string control_;

  // The state of the current message, which may have several frames.
  bool in_message_ = false;
  WebSocketMessage message_;
};

}  // namespace apiserver::inline v0::http
