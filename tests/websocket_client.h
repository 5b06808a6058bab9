#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "apiserver/http/dialer.h"

// The client's side of a WebSocket, as plain as tests need it.
namespace apiserver::inline v0::testing {

// One masked frame. `first` is its first byte: FIN, reserved bits, opcode.
inline std::string ClientFrame(int first, std::string_view payload) {
  constexpr std::array<std::uint8_t, 4> kMask{0x37, 0xfa, 0x21, 0x3d};
  std::string frame(1, static_cast<char>(first));
  const std::uint64_t size = payload.size();
  int length_bytes = 0;
  if (size < 126) {
    frame += static_cast<char>(0x80 | size);
  } else if (size <= 0xffff) {
    frame += static_cast<char>(0x80 | 126);
    length_bytes = 2;
  } else {
    frame += static_cast<char>(0x80 | 127);
    length_bytes = 8;
  }
  while (length_bytes-- > 0) frame += static_cast<char>((size >> (8 * length_bytes)) & 0xff);
  for (const std::uint8_t byte : kMask) frame += static_cast<char>(byte);
  for (std::size_t i = 0; i < payload.size(); ++i) {
    frame += static_cast<char>(static_cast<std::uint8_t>(payload[i]) ^ kMask[i % 4]);
  }
  return frame;
}

// Of a Close frame.
inline std::string ClosePayload(int code, std::string_view reason = "") {
  return std::string{static_cast<char>(code >> 8), static_cast<char>(code & 0xff)}.append(reason);
}

struct ServerFrame {
  int first = -1;  // -1: the connection has ended.
  std::string payload;
  bool operator==(const ServerFrame&) const = default;
  bool text() const { return first == 0x81; }
  bool binary() const { return first == 0x82; }
  bool close() const { return first == 0x88; }
  int close_code() const {
    if (!close() || payload.size() < 2) return 0;
    return static_cast<std::uint8_t>(payload[0]) << 8 | static_cast<std::uint8_t>(payload[1]);
  }
};

// Waits at most twenty seconds for anything.
class WebSocketClient {
 public:
  // `protocols`: the value of Sec-WebSocket-Protocol; empty: none.
  WebSocketClient(http::Connection& connection, std::string target, std::string protocols = "",
                  http::Headers headers = {}) {
    headers.Add("Connection", "Upgrade");
    headers.Add("Upgrade", "websocket");
    headers.Add("Sec-WebSocket-Version", "13");
    headers.Add("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ==");
    if (!protocols.empty()) headers.Add("Sec-WebSocket-Protocol", std::move(protocols));
    stream_ = connection.Open({.target = std::move(target), .headers = std::move(headers)}).value();
    auto head = stream_->Head(Soon());
    if (head.ok()) head_ = *std::move(head);
  }

  const http::ResponseHead& head() const { return head_; }
  void Write(std::string_view bytes) { (void)stream_->Write(bytes); }
  void SendText(std::string_view text) { Write(ClientFrame(0x81, text)); }
  void SendClose(int code) { Write(ClientFrame(0x88, ClosePayload(code))); }

  ServerFrame Read() {
    if (!Have(2)) return {};
    std::size_t size = Byte(1) & 0x7f;
    std::size_t at = 2;
    const std::size_t length_bytes = size == 127 ? 8 : size == 126 ? 2 : 0;
    if (length_bytes > 0) {
      if (!Have(2 + length_bytes)) return {};
      size = 0;
      for (; at < 2 + length_bytes; ++at) size = size << 8 | Byte(at);
    }
    if (!Have(at + size)) return {};
    ServerFrame frame{.first = Byte(0), .payload = buffer_.substr(at, size)};
    buffer_.erase(0, at + size);
    return frame;
  }
  // What comes until the server closes the connection; for answers that are no 101.
  std::string ReadBody() {
    while (Have(buffer_.size() + 1)) {
    }
    return buffer_;
  }
  void Cancel() { stream_->Cancel(); }

 private:
  static Context Soon() {
    return Context::Child(Context::Background(), RealClock().Now() + std::chrono::seconds(60));
  }
  std::uint8_t Byte(std::size_t at) const { return static_cast<std::uint8_t>(buffer_[at]); }
  bool Have(std::size_t bytes) {
    while (buffer_.size() < bytes) {
      const auto more = stream_->Read(Soon());
      if (!more.ok() || more->empty()) return false;
      buffer_ += *more;
    }
    return true;
  }

  std::unique_ptr<http::ClientStream> stream_;
  http::ResponseHead head_{.code = 0};
  std::string buffer_;
};

}  // namespace apiserver::inline v0::testing
