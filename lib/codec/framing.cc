#include "apiserver/codec/framing.h"

#include <utility>

namespace apiserver::v0::codec {

// Follows apimachinery's util/framer: a length is four bytes, big-endian, in front of its message.
void AppendFrame(Framing framing, std::string_view message, std::string& out) {
  if (framing == Framing::kLengthDelimited) {
    const auto size = static_cast<std::uint32_t>(message.size());
    for (const unsigned shift : {24U, 16U, 8U, 0U}) out += static_cast<char>(size >> shift & 0xFFU);
    out += message;
    return;
  }
  out += message;
  if (!message.ends_with('\n')) out += '\n';
}

Result<std::optional<std::string>> FrameReader::Next() {
  return framing_ == Framing::kLengthDelimited ? NextCounted() : NextLine();
}

// Remembers how far it has searched: a long line that arrives in pieces takes linear time.
Result<std::optional<std::string>> FrameReader::NextLine() {
  while (true) {
    const std::size_t end = buffer_.find('\n', scanned_);
    if (end == std::string::npos) {
      scanned_ = buffer_.size();
      if (buffer_.size() > frame_bytes_max_) return TooLarge();
      return std::optional<std::string>();
    }
    std::string line = buffer_.substr(0, end);
    buffer_.erase(0, end + 1);
    scanned_ = 0;
    if (line.size() > frame_bytes_max_) return TooLarge();
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    return std::optional<std::string>(std::move(line));
  }
}

Result<std::optional<std::string>> FrameReader::NextCounted() {
  constexpr std::size_t kHeader = 4;
  if (buffer_.size() < kHeader) return std::optional<std::string>();
  std::size_t size = 0;
  for (std::size_t i = 0; i < kHeader; ++i) {
    size = size << 8U | static_cast<unsigned char>(buffer_[i]);
  }
  // Checked before the frame is there: a false length must not make the buffer grow.
  if (size > frame_bytes_max_) return TooLarge();
  if (buffer_.size() < kHeader + size) return std::optional<std::string>();
  std::string message = buffer_.substr(kHeader, size);
  buffer_.erase(0, kHeader + size);
  return std::optional<std::string>(std::move(message));
}

Status FrameReader::TooLarge() {
  return Status(Reason::kRequestEntityTooLarge, "a frame of the stream is too large");
}

}  // namespace apiserver::v0::codec
