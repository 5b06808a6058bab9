#include "cel/run/time_text.h"

#include <array>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdio>

#include "apiserver/runtime/time.h"
#include "text/ascii.h"
#include "text/duration.h"

namespace apiserver::v0::cel {
namespace {

// The seconds east of UTC of a valid RFC 3339 time: its last characters are Z or ±hh:mm.
std::int32_t OffsetOf(std::string_view text) {
  if (text.ends_with('Z')) return 0;
  const std::string_view zone = text.substr(text.size() - 6);
  const auto digit = [&zone](std::size_t at) { return zone[at] - '0'; };
  const std::int32_t seconds = (digit(1) * 10 + digit(2)) * 3600 + (digit(4) * 10 + digit(5)) * 60;
  return zone[0] == '-' ? -seconds : seconds;
}

// The units of OpenAPI's durations. The last word of a unit may be the beginning of a longer one.
struct Unit {
  std::array<std::string_view, 3> words;
  std::int64_t nanoseconds;
};
constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::array<Unit, 8> kUnits = {{{{"ns", "nano", ""}, 1},
                                         {{"us", "µs", "micro"}, 1'000},
                                         {{"ms", "milli", ""}, 1'000'000},
                                         {{"s", "sec", ""}, kSecond},
                                         {{"m", "min", ""}, 60 * kSecond},
                                         {{"h", "hr", "hour"}, 3600 * kSecond},
                                         {{"d", "day", ""}, 24 * (3600 * kSecond)},
                                         {{"w", "wk", "week"}, 7 * (24 * (3600 * kSecond))}}};

// Returns the nanoseconds that all units with this word have together: as in Go, a word counts for
// every unit that it fits.
bool NanosOf(std::string_view word, std::uint64_t count, std::uint64_t& total) {
  bool known = false;
  for (const Unit& unit : kUnits) {
    const std::size_t last = unit.words[2].empty() ? 1 : 2;
    for (std::size_t i = 0; i <= last; ++i) {
      const bool fits = i == last ? word.starts_with(unit.words[i]) : word == unit.words[i];
      if (!fits) continue;
      known = true;
      total += count * static_cast<std::uint64_t>(unit.nanoseconds);
    }
  }
  return known;
}

bool IsUnitByte(char c) {
  // The bytes of µ count as letters.
  return text::IsLetter(c) || c == '\xC2' || c == '\xB5';
}

// Turns Go's words about an RFC 3339 text into those about a time without a zone, the last layout
// that OpenAPI's reader tries.
std::string AboutLocalTime(std::string error) {
  constexpr std::string_view kLayout = "\" as \"2006-01-02T15:04:05Z07:00\": cannot parse \"";
  constexpr std::string_view kLocalLayout = "\" as \"2006-01-02T15:04:05\": cannot parse \"";
  constexpr std::string_view kZone = "\" as \"Z07:00\"";
  const std::size_t at = error.find(kLayout);
  if (at == std::string::npos) return error;
  if (!error.ends_with(kZone)) return error.replace(at, kLayout.size(), kLocalLayout);
  // All but the zone was read.
  error.replace(error.size() - kZone.size(), kZone.size(), "\"");
  return error.replace(at, kLayout.size(), "\": extra text: \"");
}

bool IsBlank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

}  // namespace

std::optional<Time> ParseRfc3339(std::string_view text, std::string& error) {
  const Result<runtime::UnixTime> parsed = runtime::ParseTime(text);
  if (!parsed.ok()) {
    error = parsed.status().message();
    return std::nullopt;
  }
  return Time{parsed->seconds, static_cast<std::uint32_t>(parsed->nanos), OffsetOf(text)};
}

std::optional<Time> ParseDateTime(std::string_view text, std::string& error) {
  if (text.empty()) return Time{};
  if (const std::optional<Time> time = ParseRfc3339(text, error)) return time;
  std::string ignored;
  if (const auto time = ParseRfc3339(std::string(text) + "Z", ignored)) return time;
  error = AboutLocalTime(std::move(error));
  return std::nullopt;
}

std::optional<Time> ParseDate(std::string_view text, std::string& error) {
  return ParseRfc3339(std::string(text) + "T00:00:00Z", error);
}

std::optional<std::int64_t> ParseWordyDuration(std::string_view text) {
  const text::Read<std::chrono::nanoseconds> exact = text::ParseDuration(text);
  if (exact.ok()) return exact->count();
  std::uint64_t total = 0;
  bool known = false;
  std::size_t at = 0;
  while (at < text.size()) {
    if (!text::IsDigit(text[at])) {
      ++at;
      continue;
    }
    std::int64_t count = 0;
    const char* const begin = text.data() + at;
    const auto [end, failure] = std::from_chars(begin, text.data() + text.size(), count);
    if (failure != std::errc()) return std::nullopt;
    at += static_cast<std::size_t>(end - begin);
    while (at < text.size() && IsBlank(text[at])) ++at;
    std::string word;
    for (; at < text.size() && IsUnitByte(text[at]); ++at) {
      const char c = text[at];
      word.push_back(c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c);
    }
    if (word.empty()) continue;
    if (NanosOf(word, static_cast<std::uint64_t>(count), total)) known = true;
  }
  if (!known) return std::nullopt;
  return static_cast<std::int64_t>(total);
}

std::string FormatRfc3339(Time time) {
  const std::int64_t local = time.seconds + time.offset_seconds;
  const auto day =
      std::chrono::floor<std::chrono::days>(std::chrono::sys_seconds(std::chrono::seconds(local)));
  const std::chrono::year_month_day date(day);
  const auto of_day = static_cast<int>(local - day.time_since_epoch().count() * 86400);
  std::array<char, 48> buffer;
  std::snprintf(buffer.data(), buffer.size(), "%04d-%02u-%02uT%02d:%02d:%02d",
                static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
                static_cast<unsigned>(date.day()), of_day / 3600, of_day / 60 % 60, of_day % 60);
  std::string text(buffer.data());
  if (time.nanoseconds != 0) {
    std::snprintf(buffer.data(), buffer.size(), ".%09u", time.nanoseconds);
    std::string fraction(buffer.data());
    fraction.erase(fraction.find_last_not_of('0') + 1);
    text += fraction;
  }
  if (time.offset_seconds == 0) return text + 'Z';
  const int minutes = std::abs(time.offset_seconds) / 60;
  std::snprintf(buffer.data(), buffer.size(), "%c%02d:%02d", time.offset_seconds < 0 ? '-' : '+',
                minutes / 60, minutes % 60);
  return text + buffer.data();
}

std::string FormatSeconds(std::int64_t nanoseconds) {
  // Go's Duration.Seconds: whole seconds and the rest, each rounded to a double.
  const std::int64_t whole = nanoseconds / kSecond;
  const double seconds =
      static_cast<double>(whole) + static_cast<double>(nanoseconds % kSecond) / 1e9;
  std::array<char, 400> buffer;
  const auto [end, failure] = std::to_chars(buffer.data(), buffer.data() + buffer.size(), seconds,
                                            std::chars_format::fixed);
  return std::string(buffer.data(), failure == std::errc() ? end : buffer.data()) + 's';
}

std::string FormatDouble(double number) {
  if (std::isnan(number)) return "NaN";
  if (std::isinf(number)) return number < 0 ? "-Inf" : "+Inf";
  std::array<char, 400> buffer;
  char* const last = buffer.data() + buffer.size();
  // The exponent decides between the layouts.
  constexpr int kScientificFrom = 6;
  const auto scientific = std::to_chars(buffer.data(), last, number, std::chars_format::scientific);
  std::string text(buffer.data(), scientific.ptr);
  const char* from = text.data() + text.find('e') + 1;
  if (*from == '+') ++from;
  int exponent = 0;
  std::from_chars(from, text.data() + text.size(), exponent);
  if (exponent < -4 || exponent >= kScientificFrom) return text;
  const auto fixed = std::to_chars(buffer.data(), last, number, std::chars_format::fixed);
  return {buffer.data(), fixed.ptr};
}

}  // namespace apiserver::v0::cel
