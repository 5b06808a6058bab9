#include "server/requests/go_duration.h"

#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>

namespace apiserver::v0::server {

namespace {

constexpr std::pair<std::string_view, double> kUnits[] = {
    {"ns", 1},   {"us", 1e3}, {"\xC2\xB5s", 1e3}, {"\xCE\xBCs", 1e3},
    {"ms", 1e6}, {"s", 1e9},  {"m", 60e9},        {"h", 3600e9},
};

bool IsNumber(char c) { return (c >= '0' && c <= '9') || c == '.'; }

// Takes one "1.5h" off the front of `text`; nullopt when there is none.
std::optional<double> TakeTerm(std::string_view& text) {
  std::size_t digits = 0;
  while (digits < text.size() && IsNumber(text[digits])) ++digits;
  double number = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + digits, number);
  if (digits == 0 || parsed.ec != std::errc() || parsed.ptr != text.data() + digits) {
    return std::nullopt;
  }
  text.remove_prefix(digits);
  std::size_t letters = 0;
  while (letters < text.size() && !IsNumber(text[letters])) ++letters;
  for (const auto& [unit, nanoseconds] : kUnits) {
    if (text.substr(0, letters) != unit) continue;
    text.remove_prefix(letters);
    return number * nanoseconds;
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::chrono::nanoseconds> ParseGoDuration(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  if (text == "0") return std::chrono::nanoseconds(0);
  if (text.empty()) return std::nullopt;
  double total = 0;
  while (!text.empty()) {
    const std::optional<double> term = TakeTerm(text);
    if (!term) return std::nullopt;
    total += *term;
  }
  if (total >= static_cast<double>(std::numeric_limits<std::int64_t>::max())) return std::nullopt;
  const auto nanoseconds = static_cast<std::int64_t>(std::llround(total));
  return std::chrono::nanoseconds(negative ? -nanoseconds : nanoseconds);
}

}  // namespace apiserver::v0::server
