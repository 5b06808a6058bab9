#include "storage/etcd/grpc_wire.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <utility>

#include "text/hex.h"

namespace apiserver::v0::storage::etcd {
namespace {

constexpr std::size_t kPrefix = 5;  // A flag and the length.
// The room that is made for a message before its bytes arrive, which fits a page of PageSize: one
// that claims to be longer grows with them.
constexpr std::size_t kReserveMax = std::size_t{40} << 20U;
// The words of a member that are kept: they go into errors and logs.
constexpr std::size_t kWordsMax = 4096;
constexpr int kLastCode = static_cast<int>(RpcCode::kUnauthenticated);

// Returns the length of the message behind the prefix.
std::size_t LengthIn(std::string_view prefix) {
  std::size_t length = 0;
  for (const char byte : prefix.substr(1, 4)) {
    length = (length << 8U) | static_cast<unsigned char>(byte);
  }
  return length;
}

// Moves bytes from the front of `bytes` to `kept` until that has so many.
void Move(std::string_view& bytes, std::string& kept, std::size_t until) {
  const std::size_t count = std::min(until - kept.size(), bytes.size());
  kept.append(bytes.substr(0, count));
  bytes.remove_prefix(count);
}

// A sequence that is none stays as it is, as the protocol asks.
std::string PercentDecoded(std::string_view text) {
  std::string decoded;
  for (std::size_t i = 0; i < text.size() && decoded.size() < kWordsMax; ++i) {
    const bool sequence = text[i] == '%' && i + 2 < text.size();
    const int high = sequence ? text::HexValue(text[i + 1]) : -1;
    const int low = sequence ? text::HexValue(text[i + 2]) : -1;
    if (high >= 0 && low >= 0) {
      decoded += static_cast<char>(high * 16 + low);
      i += 2;
    } else {
      decoded += text[i];
    }
  }
  return decoded;
}

}  // namespace

std::string FrameOf(std::string_view message) {
  std::string frame;
  frame.reserve(kPrefix + message.size());
  const auto length = static_cast<std::uint32_t>(message.size());
  frame += '\0';
  for (const unsigned shift : {24U, 16U, 8U, 0U}) {
    frame += static_cast<char>((length >> shift) & 0xffU);
  }
  frame.append(message);
  return frame;
}

// A message is copied once, into the string that is returned.
Result<std::optional<std::string>> MessageReader::Next(std::string_view& bytes) {
  Move(bytes, prefix_, kPrefix);
  if (prefix_.size() < kPrefix) return std::nullopt;
  if (prefix_[0] != 0) return Status(Reason::kInvalid, "the message is compressed");
  const std::size_t length = LengthIn(prefix_);
  if (length > bytes_max_) return Status(Reason::kInvalid, "the message is too long");
  if (kept_.empty()) kept_.reserve(std::min(length, kReserveMax));
  Move(bytes, kept_, length);
  if (kept_.size() < length) return std::nullopt;
  prefix_.clear();
  return std::exchange(kept_, {});
}

RpcOutcome OutcomeOf(const http::Headers& trailers) {
  const std::string_view text = trailers.Get("grpc-status");
  int code = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), code);
  if (error != std::errc() || end != text.data() + text.size() || code < 0 || code > kLastCode) {
    return {RpcCode::kUnknown, "the answer has no status"};
  }
  return {static_cast<RpcCode>(code), PercentDecoded(trailers.Get("grpc-message"))};
}

// https://github.com/grpc/grpc/blob/master/doc/http-grpc-status-mapping.md.
RpcOutcome OutcomeOfCode(int http_code) {
  const auto of = [&](RpcCode code) {
    return RpcOutcome{code, "the server answers " + std::to_string(http_code) + ", not in gRPC"};
  };
  switch (http_code) {
    case 400:
      return of(RpcCode::kInternal);
    case 401:
      return of(RpcCode::kUnauthenticated);
    case 403:
      return of(RpcCode::kPermissionDenied);
    case 404:
      return of(RpcCode::kUnimplemented);
    case 429:
    case 502:
    case 503:
    case 504:
      return of(RpcCode::kUnavailable);
    default:
      return of(RpcCode::kUnknown);
  }
}

// The value has eight digits at the most.
std::string TimeoutText(std::chrono::nanoseconds timeout) {
  constexpr std::int64_t kMost = 99'999'999;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(timeout).count();
  return std::to_string(std::clamp<std::int64_t>(left, 1, kMost)) + "m";
}

}  // namespace apiserver::v0::storage::etcd
