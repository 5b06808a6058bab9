#include "http/websocket_frame.h"

#include <algorithm>
#include <utility>

#include "text/utf8.h"

namespace apiserver::v0::http {
namespace {

constexpr std::uint8_t kFinal = 0x80;
constexpr std::uint8_t kReserved = 0x70;
constexpr std::uint8_t kOpcode = 0x0f;
constexpr std::uint8_t kMasked = 0x80;
constexpr std::uint8_t kLength = 0x7f;
constexpr std::uint8_t kLength16 = 126;
constexpr std::uint8_t kLength64 = 127;
constexpr std::size_t kControlBytesMax = 125;

std::uint8_t Byte(std::string_view text, std::size_t at) {
  return static_cast<std::uint8_t>(text[at]);
}

// Accepts the codes that RFC 6455, 7.4 defines, and those that it leaves to libraries and
// applications.
bool ValidCloseCode(int code) {
  if (code >= 3000) return code <= 4999;
  return (code >= 1000 && code <= 1003) || (code >= 1007 && code <= 1014);
}

WebSocketReader::Failure Bad(std::string_view reason) { return {kWebSocketProtocolError, reason}; }

bool KnownOpcode(std::uint8_t opcode) { return opcode <= 2 || (opcode >= 8 && opcode <= 10); }

}  // namespace

void AppendWebSocketFrame(WebSocketOpcode opcode, std::string_view payload, std::string& out) {
  out += static_cast<char>(kFinal | static_cast<std::uint8_t>(opcode));
  const std::uint64_t size = payload.size();
  int length_bytes = 0;
  if (size < kLength16) {
    out += static_cast<char>(size);
  } else if (size <= 0xffff) {
    out += static_cast<char>(kLength16);
    length_bytes = 2;
  } else {
    out += static_cast<char>(kLength64);
    length_bytes = 8;
  }
  while (length_bytes-- > 0) out += static_cast<char>((size >> (8 * length_bytes)) & 0xff);
  out += payload;
}

std::string WebSocketClosePayload(int code, std::string_view reason) {
  if (code == kWebSocketNoCode) return {};
  std::string payload{static_cast<char>(code >> 8), static_cast<char>(code & 0xff)};
  // A control frame has at most 125 bytes; a reason that is too long is cut between characters.
  reason = reason.substr(0, kControlBytesMax - payload.size());
  while (!reason.empty() && !text::ValidUtf8(reason)) reason.remove_suffix(1);
  return payload.append(reason);
}

std::size_t WebSocketReader::HeaderSize() const {
  if (header_bytes_ < 2) return 2;
  const std::uint8_t length = header_[1] & kLength;
  const std::size_t extended = length == kLength64 ? 8 : length == kLength16 ? 2 : 0;
  // A frame without a mask is refused once its first bytes are there.
  return 2 + extended + mask_.size();
}

std::optional<WebSocketReader::Failure> WebSocketReader::Receive(std::string_view bytes,
                                                                 Sink& sink) {
  while (!done_ && !bytes.empty()) {
    std::optional<Failure> failure;
    if (!in_payload_) {
      header_[header_bytes_++] = Byte(bytes, 0);
      bytes.remove_prefix(1);
      // RFC 6455, 5.1.
      if (header_bytes_ == 2 && (header_[1] & kMasked) == 0) {
        failure = Bad("a client's frame must be masked");
      } else if (header_bytes_ == HeaderSize()) {
        failure = BeginFrame();
      }
    } else {
      TakePayload(bytes);
    }
    if (!failure && in_payload_ && left_ == 0) failure = EndFrame(sink);
    if (failure) {
      done_ = true;
      return failure;
    }
  }
  return std::nullopt;
}

// Checks a complete header. Lengths and reserved bits are checked before any of the payload is
// kept.
std::optional<WebSocketReader::Failure> WebSocketReader::BeginFrame() {
  const std::size_t size = std::exchange(header_bytes_, 0);
  const std::uint8_t opcode = header_[0] & kOpcode;
  final_ = (header_[0] & kFinal) != 0;
  if ((header_[0] & kReserved) != 0) return Bad("reserved bits must be zero");
  if (!KnownOpcode(opcode)) return Bad("unknown opcode");
  opcode_ = static_cast<WebSocketOpcode>(opcode);

  const std::size_t mask_begin = size - mask_.size();
  left_ = header_[1] & kLength;
  if (mask_begin > 2) {
    left_ = 0;
    for (std::size_t i = 2; i < mask_begin; ++i) left_ = (left_ << 8) | header_[i];
    const std::uint64_t least = mask_begin == 4 ? kLength16 : 0x10000;
    if (left_ < least) return Bad("a length must take the fewest bytes");
    if (left_ >> 63 != 0) return Bad("a length must be below 2^63");
  }
  std::copy_n(header_.begin() + static_cast<std::ptrdiff_t>(mask_begin), mask_.size(),
              mask_.begin());
  mask_at_ = 0;
  in_payload_ = true;

  if (control()) {
    if (!final_) return Bad("a control frame must not be fragmented");
    if (left_ > kControlBytesMax) return Bad("a control frame is at most 125 bytes");
    control_.clear();
    return std::nullopt;
  }
  const bool continues = opcode_ == WebSocketOpcode::kContinuation;
  if (continues && !in_message_) return Bad("nothing to continue");
  if (!continues && in_message_) return Bad("the message before is not complete");
  if (!continues) message_.binary = opcode_ == WebSocketOpcode::kBinary;
  in_message_ = true;
  if (left_ > message_bytes_max_ - message_.data.size()) {
    return Failure{kWebSocketTooBig, "the message is too big"};
  }
  return std::nullopt;
}

void WebSocketReader::TakePayload(std::string_view& bytes) {
  const std::size_t count = std::min<std::uint64_t>(left_, bytes.size());
  std::string& to = control() ? control_ : message_.data;
  const std::size_t before = to.size();
  to.append(bytes.substr(0, count));
  for (std::size_t i = before; i < to.size(); ++i) {
    to[i] = static_cast<char>(Byte(to, i) ^ mask_[mask_at_++ % mask_.size()]);
  }
  bytes.remove_prefix(count);
  left_ -= count;
}

std::optional<WebSocketReader::Failure> WebSocketReader::EndFrame(Sink& sink) {
  in_payload_ = false;
  if (control()) return EndControl(sink);
  if (!final_) return std::nullopt;
  in_message_ = false;
  WebSocketMessage message = std::exchange(message_, {});
  if (!message.binary && !text::ValidUtf8(message.data)) {
    return Failure{kWebSocketInvalidData, "text must be UTF-8"};
  }
  sink.OnData(std::move(message));
  return std::nullopt;
}

std::optional<WebSocketReader::Failure> WebSocketReader::EndControl(Sink& sink) {
  if (opcode_ == WebSocketOpcode::kPing) sink.OnPing(control_);
  if (opcode_ != WebSocketOpcode::kClose) return std::nullopt;
  if (control_.size() == 1) return Bad("a close code has two bytes");
  int code = kWebSocketNoCode;
  std::string_view reason;
  if (!control_.empty()) {
    code = Byte(control_, 0) << 8 | Byte(control_, 1);
    reason = std::string_view(control_).substr(2);
    if (!ValidCloseCode(code)) return Bad("no such close code");
    if (!text::ValidUtf8(reason)) return Failure{kWebSocketInvalidData, "text must be UTF-8"};
  }
  done_ = true;
  sink.OnCloseFrame(code, reason);
  return std::nullopt;
}

}  // namespace apiserver::v0::http
