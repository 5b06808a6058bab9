#pragma once

#include <chrono>
#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "apiserver/base/status.h"

// Parses and formats meta/v1 Time, MicroTime and Duration. Parsing accepts what Go's time.Parse and
// time.ParseDuration accept; errors are kBadRequest with Go's words.
namespace apiserver::inline v0::runtime {

// A point in time, from year 1 on: wider than system_clock in nanoseconds.
struct UnixTime {
  std::int64_t seconds = kZeroSeconds;
  std::int32_t nanos = 0;  // [0, 1e9).

  // Go's zero time, 0001-01-01T00:00:00Z.
  static constexpr std::int64_t kZeroSeconds = -62135596800;

  static UnixTime From(std::chrono::system_clock::time_point time);  // Exact.
  // Returns the nearest time that system_clock can represent.
  std::chrono::system_clock::time_point ToSystem() const;
  bool is_zero() const { return seconds == kZeroSeconds && nanos == 0; }
  friend auto operator<=>(const UnixTime&, const UnixTime&) = default;
};

// Parses RFC 3339 with or without a fraction, in any zone.
Result<UnixTime> ParseTime(std::string_view text);
// Parses RFC 3339 with a fraction of exactly six digits.
Result<UnixTime> ParseMicroTime(std::string_view text);
// Returns "2006-01-02T15:04:05Z"; fractions are cut off.
std::string FormatTime(UnixTime time);
// Returns "2006-01-02T15:04:05.000000Z".
std::string FormatMicroTime(UnixTime time);

// Parses "1h2m3s", "1.5s", "-300ms".
Result<std::chrono::nanoseconds> ParseDuration(std::string_view text);
// Formats like Go's Duration.String: "1h0m0s", "1.5s", "2ms", "0s".
std::string FormatDuration(std::chrono::nanoseconds duration);

}  // namespace apiserver::inline v0::runtime
