#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "http/http1_head.h"

namespace apiserver::inline v0::http {

// Takes an HTTP/1.1 body out of its framing, strictly: CRLF everywhere, hexadecimal sizes without
// sign or space, at most 16 KiB of chunk extensions and trailers together; both are dropped. A lax
// reader behind a proxy would see other requests than the proxy did.
class BodyDecoder final {
 public:
  // The framing. kUntilClose: the body ends with the connection.
  enum class Mode : std::uint8_t { kNone, kLength, kChunked, kUntilClose };

  // Decodes an empty body.
  BodyDecoder() = default;
  // `length` is for kLength.
  explicit BodyDecoder(Mode mode, std::uint64_t length = 0);
  // Makes a decoder for a request's framing, in which no body means an empty one.
  static BodyDecoder ForRequest(const Framing& framing);

  // Consumes from the front of `in`: `data` is the next piece of the body, if any. Returns how many
  // bytes were consumed; zero: more are needed, or done(), or bad().
  std::size_t Decode(std::string_view in, std::string_view& data);
  bool done() const { return state_ == State::kDone; }
  bool bad() const { return state_ == State::kBad; }
  Mode mode() const { return mode_; }
  // Returns how many bytes are still to come, for kLength.
  std::uint64_t left() const { return left_; }

 private:
  enum class State : std::uint8_t {
    kData,       // left_ bytes of data.
    kDataCr,     // CR after a chunk.
    kDataLf,     // LF after a chunk.
    kSize,       // Digits of a chunk's size.
    kExtension,  // Up to CR.
    kSizeLf,
    kTrailer,  // First byte of a trailer line.
    kTrailerName,
    kTrailerText,
    kTrailerLf,
    kEndLf,
    kDone,
    kBad,
  };
  // Takes one character of the framing in the current state.
  void Take(char c);
  void TakeSize(char c);
  void TakeExtra(char c, State after);
  void TakeTrailerName(char c, bool first);
  // Goes on with `next` if `c` is `wanted`; else the body is bad.
  void Expect(char c, char wanted, State next);

  Mode mode_ = Mode::kNone;
  State state_ = State::kDone;
  std::uint64_t left_ = 0;
  std::size_t digits_ = 0;       // Digits of the current chunk's size.
  std::size_t extra_bytes_ = 0;  // Bytes of all extensions and trailers.
};

}  // namespace apiserver::inline v0::http
