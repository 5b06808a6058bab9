#include "http/http1_body.h"

#include <algorithm>

#include "http/tokens.h"
#include "text/hex.h"

namespace apiserver::v0::http {
namespace {

constexpr std::size_t kExtraBytesMax = 16 << 10;
// Keeps sizes below 2^60, so that sums of them cannot overflow.
constexpr std::size_t kSizeDigitsMax = 15;

}  // namespace

BodyDecoder::BodyDecoder(Mode mode, std::uint64_t length) : mode_(mode), left_(length) {
  switch (mode) {
    case Mode::kNone:
      break;
    case Mode::kLength:
      state_ = length > 0 ? State::kData : State::kDone;
      break;
    case Mode::kChunked:
      state_ = State::kSize;
      break;
    case Mode::kUntilClose:
      state_ = State::kData;
      left_ = UINT64_MAX;
      break;
  }
}

BodyDecoder BodyDecoder::ForRequest(const Framing& framing) {
  if (framing.chunked) return BodyDecoder(Mode::kChunked);
  return framing.length ? BodyDecoder(Mode::kLength, *framing.length) : BodyDecoder();
}

// Returns at most one run of data, so that it can be a view into `in` and nothing is copied.
std::size_t BodyDecoder::Decode(std::string_view in, std::string_view& data) {
  data = {};
  std::size_t used = 0;
  while (used < in.size() && !done() && !bad()) {
    if (state_ != State::kData) {
      Take(in[used++]);
      continue;
    }
    data = in.substr(used, std::min<std::uint64_t>(left_, in.size() - used));
    if (mode_ != Mode::kUntilClose) left_ -= data.size();
    if (left_ == 0) state_ = mode_ == Mode::kChunked ? State::kDataCr : State::kDone;
    return used + data.size();
  }
  return used;
}

void BodyDecoder::Take(char c) {
  switch (state_) {
    case State::kSize:
      return TakeSize(c);
    case State::kExtension:
      return TakeExtra(c, State::kSizeLf);
    case State::kSizeLf:
      // The chunk of size 0 is the last (RFC 9112, 7.1).
      Expect(c, '\n', left_ > 0 ? State::kData : State::kTrailer);
      digits_ = 0;
      return;
    case State::kDataCr:
      return Expect(c, '\r', State::kDataLf);
    case State::kDataLf:
      return Expect(c, '\n', State::kSize);
    case State::kTrailer:
      if (c == '\r') {
        state_ = State::kEndLf;
        return;
      }
      state_ = State::kTrailerName;
      return TakeTrailerName(c, /*first=*/true);
    case State::kTrailerName:
      return TakeTrailerName(c, /*first=*/false);
    case State::kTrailerText:
      return TakeExtra(c, State::kTrailerLf);
    case State::kTrailerLf:
      return Expect(c, '\n', State::kTrailer);
    case State::kEndLf:
      return Expect(c, '\n', State::kDone);
    case State::kData:
    case State::kDone:
    case State::kBad:
      return;
  }
}

// Signs and spaces, which strtoul() and some servers accept, make a body bad.
void BodyDecoder::TakeSize(char c) {
  const int digit = text::HexValue(c);
  if (digit >= 0) {
    left_ = left_ * 16 + static_cast<std::uint64_t>(digit);
    if (++digits_ > kSizeDigitsMax) state_ = State::kBad;
  } else if (digits_ == 0) {
    state_ = State::kBad;
  } else if (c == '\r') {
    state_ = State::kSizeLf;
  } else {
    state_ = c == ';' ? State::kExtension : State::kBad;
  }
}

// Trailers are dropped, but each must be a field (RFC 9112, 7.1.2): another reader may take
// anything else for the next request.
void BodyDecoder::TakeTrailerName(char c, bool first) {
  if (c == ':' && !first) {
    state_ = State::kTrailerText;
  } else if (!IsToken({&c, 1}) || ++extra_bytes_ > kExtraBytesMax) {
    state_ = State::kBad;
  }
}

void BodyDecoder::TakeExtra(char c, State after) {
  if (c == '\r') {
    state_ = after;
  } else if ((static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == 0x7f ||
             ++extra_bytes_ > kExtraBytesMax) {
    state_ = State::kBad;
  }
}

void BodyDecoder::Expect(char c, char wanted, State next) {
  state_ = c == wanted ? next : State::kBad;
}

}  // namespace apiserver::v0::http
