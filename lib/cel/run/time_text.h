#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "apiserver/cel/value.h"

// Times and durations as text.
namespace apiserver::inline v0::cel {

// The range of timestamps: 0001-01-01T00:00:00Z to 9999-12-31T23:59:59Z.
inline constexpr std::int64_t kMinUnixTime = -62135596800;
inline constexpr std::int64_t kMaxUnixTime = 253402300799;

// Parses RFC 3339 and keeps the zone. nullopt: `error` has Go's words.
std::optional<Time> ParseRfc3339(std::string_view text, std::string& error);
// Parse OpenAPI's date-time (RFC 3339, also without a zone; empty is 1970) and date (UTC midnight).
std::optional<Time> ParseDateTime(std::string_view text, std::string& error);
std::optional<Time> ParseDate(std::string_view text, std::string& error);
// Parses OpenAPI's duration: Go's syntax, or numbers with words: "1 day 2 hrs". In nanoseconds.
std::optional<std::int64_t> ParseWordyDuration(std::string_view text);

// Formats as RFC 3339 in the time's zone with the digits of the fraction that are needed.
std::string FormatRfc3339(Time time);
// Formats nanoseconds as seconds: "90s", "0.001s", "-5400s".
std::string FormatSeconds(std::int64_t nanoseconds);

// Formats a number as Go's %g with the fewest digits that read back: "1e+06", "+Inf".
std::string FormatDouble(double number);

}  // namespace apiserver::inline v0::cel
