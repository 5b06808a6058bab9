#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "apiserver/base/status.h"

// The framing of messages in a watch: k8s.io/apimachinery/pkg/util/framer.
namespace apiserver::inline v0::codec {

// The way in which messages of a stream are delimited.
enum class Framing : std::uint8_t {
  kLines,            // JSON: a message a line.
  kLengthDelimited,  // Protobuf: four bytes of length, big endian, before each.
};

// Appends `message` as one frame.
void AppendFrame(Framing framing, std::string_view message, std::string& out);

// Splits a stream that arrives in pieces into its messages.
class FrameReader final {
 public:
  // A message over `frame_bytes_max` bytes is refused.
  explicit FrameReader(Framing framing, std::size_t frame_bytes_max = 16 << 20)
      : framing_(framing), frame_bytes_max_(frame_bytes_max) {}

  // Adds the next bytes of the stream.
  void Add(std::string_view bytes) { buffer_ += bytes; }
  // Returns the next whole message. nullopt: more bytes are needed. Empty lines are skipped.
  // kRequestEntityTooLarge: a message is over the limit; the rest of the stream cannot be read.
  Result<std::optional<std::string>> Next();

 private:
  Result<std::optional<std::string>> NextLine();
  Result<std::optional<std::string>> NextCounted();
  static Status TooLarge();

  Framing framing_;
  std::size_t frame_bytes_max_;
  std::size_t scanned_ = 0;  // Bytes that hold no line end.
  std::string buffer_;
};

}  // namespace apiserver::inline v0::codec
