#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "apiserver/base/status.h"

// How messages follow each other in a watch: k8s.io/apimachinery/pkg/util/framer.
namespace apiserver::inline v0::codec {

enum class Framing : std::uint8_t {
  kLines,            // JSON: a message a line.
  kLengthDelimited,  // Protobuf: four bytes of length, big endian, before each.
};

void AppendFrame(Framing framing, std::string_view message, std::string& out);

// Takes a stream that arrives in pieces apart again.
class FrameReader final {
 public:
  explicit FrameReader(Framing framing, std::size_t frame_bytes_max = 16 << 20)
      : framing_(framing), frame_bytes_max_(frame_bytes_max) {}

  void Add(std::string_view bytes) { buffer_ += bytes; }
  // The next whole message; nullopt: more bytes are needed. Empty lines are skipped.
  // kRequestEntityTooLarge: a message is over the limit; the stream is lost.
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
