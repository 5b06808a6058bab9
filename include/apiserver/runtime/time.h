#pragma once

#include <chrono>
#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "apiserver/base/status.h"

// The texts of meta/v1 Time, MicroTime and Duration. Parsing accepts what Go's time.Parse and
// time.ParseDuration accept; errors are kBadRequest with Go's words.
namespace apiserver::inline v0::runtime {

// A point in time, from year 1 on: wider than system_clock in nanoseconds.
struct UnixTime {
  std::int64_t seconds = kZeroSeconds;
  std::int32_t nanos = 0;  // [0, 1e9).

  // 0001-01-01T00:00:00Z, Go's zero time.
  static constexpr std::int64_t kZeroSeconds = -62135596800;

  static UnixTime From(std::chrono::system_clock::time_point time);
  // The nearest that system_clock can hold.
  std::chrono::system_clock::time_point ToSystem() const;
  bool is_zero() const { return seconds == kZeroSeconds && nanos == 0; }
  friend auto operator<=>(const UnixTime&, const UnixTime&) = default;
};

// RFC 3339 with or without a fraction, in any zone.
Result<UnixTime> ParseTime(std::string_view text);
// RFC 3339 with exactly six digits of a fraction.
Result<UnixTime> ParseMicroTime(std::string_view text);
// "2006-01-02T15:04:05Z"; fractions are cut off.
std::string FormatTime(UnixTime time);
// "2006-01-02T15:04:05.000000Z".
std::string FormatMicroTime(UnixTime time);

// "1h2m3s", "1.5s", "-300ms".
Result<std::chrono::nanoseconds> ParseDuration(std::string_view text);
// As Go's Duration.String: "1h0m0s", "1.5s", "2ms", "0s".
std::string FormatDuration(std::chrono::nanoseconds duration);

}  // namespace apiserver::inline v0::runtime
