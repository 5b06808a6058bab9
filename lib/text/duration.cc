#include "text/duration.h"

#include <cstdint>

#include "text/ascii.h"
#include "text/quote.h"

namespace apiserver::v0::text {

namespace {

constexpr std::uint64_t kMicro = 1'000;
constexpr std::uint64_t kMilli = 1'000'000;
constexpr std::uint64_t kSecond = 1'000'000'000;
constexpr std::uint64_t kMinute = 60 * kSecond;
constexpr std::uint64_t kHour = 60 * kMinute;
// The size of the most negative duration; the longest positive one is shorter by one.
constexpr std::uint64_t kLimit = std::uint64_t{1} << 63;

// Returns the length of a unit. Zero: it is not one.
std::uint64_t NanosOf(std::string_view unit) {
  if (unit == "ns") return 1;
  if (unit == "us" || unit == "\u00b5s" || unit == "\u03bcs") return kMicro;
  if (unit == "ms") return kMilli;
  if (unit == "s") return kSecond;
  if (unit == "m") return kMinute;
  return unit == "h" ? kHour : 0;
}

Error BadDuration(std::string_view what, std::string_view text) {
  return Error("time: " + std::string(what) + " " + Quote(text));
}

// One number with its unit, read from the front of `rest`.
class Term {
 public:
  // Returns false for a number that is too long, or missing.
  bool TakeNumber(std::string_view& rest) {
    bool any = false;
    for (; !rest.empty() && IsDigit(rest.front()); rest.remove_prefix(1), any = true) {
      if (whole_ > kLimit / 10) return false;
      whole_ = whole_ * 10 + static_cast<std::uint64_t>(rest.front() - '0');
      if (whole_ > kLimit) return false;
    }
    if (!rest.starts_with('.')) return any;
    rest.remove_prefix(1);
    bool full = false;  // Further digits are too small to matter.
    for (; !rest.empty() && IsDigit(rest.front()); rest.remove_prefix(1), any = true) {
      const auto digit = static_cast<std::uint64_t>(rest.front() - '0');
      full = full || fraction_ > (kLimit - 1) / 10 || fraction_ * 10 + digit > kLimit;
      if (full) continue;
      fraction_ = fraction_ * 10 + digit;
      scale_ *= 10;
    }
    return any;
  }
  // Returns false if the value overflows.
  bool InNanos(std::uint64_t unit, std::uint64_t& nanos) const {
    if (whole_ > kLimit / unit) return false;
    nanos = whole_ * unit;
    if (fraction_ > 0) {
      nanos += static_cast<std::uint64_t>(static_cast<double>(fraction_) *
                                          (static_cast<double>(unit) / scale_));
    }
    return nanos <= kLimit;
  }

 private:
  std::uint64_t whole_ = 0;
  std::uint64_t fraction_ = 0;
  double scale_ = 1;
};

// `number` over ten to the power of `digits`, without trailing zeros: "1.5".
std::string Decimal(std::uint64_t number, int digits) {
  std::string text = std::to_string(number);
  const auto places = static_cast<std::size_t>(digits);
  if (text.size() <= places) text.insert(0, places + 1 - text.size(), '0');
  text.insert(text.size() - places, 1, '.');
  text.resize(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text;
}

}  // namespace

Read<std::chrono::nanoseconds> ParseDuration(std::string_view text) {
  std::string_view rest = text;
  const bool negative = rest.starts_with('-');
  if (negative || rest.starts_with('+')) rest.remove_prefix(1);
  if (rest == "0") return std::chrono::nanoseconds(0);
  if (rest.empty()) return BadDuration("invalid duration", text);
  std::uint64_t total = 0;
  while (!rest.empty()) {
    Term term;
    if (!term.TakeNumber(rest)) return BadDuration("invalid duration", text);
    std::size_t size = 0;
    while (size < rest.size() && rest[size] != '.' && !IsDigit(rest[size])) ++size;
    if (size == 0) return BadDuration("missing unit in duration", text);
    const std::string_view unit = rest.substr(0, size);
    rest.remove_prefix(size);
    if (NanosOf(unit) == 0) {
      return BadDuration("unknown unit " + Quote(unit) + " in duration", text);
    }
    std::uint64_t nanos = 0;
    if (!term.InNanos(NanosOf(unit), nanos)) return BadDuration("invalid duration", text);
    total += nanos;  // Both at most 2^63.
    if (total > kLimit || total < nanos) return BadDuration("invalid duration", text);
  }
  if (total == kLimit && !negative) return BadDuration("invalid duration", text);
  return std::chrono::nanoseconds(static_cast<std::int64_t>(negative ? 0 - total : total));
}

std::string FormatDuration(std::chrono::nanoseconds duration) {
  const bool negative = duration.count() < 0;
  std::uint64_t nanos = static_cast<std::uint64_t>(duration.count());
  if (negative) nanos = 0 - nanos;
  const std::string sign = negative ? "-" : "";
  if (nanos == 0) return "0s";
  if (nanos < kMicro) return sign + std::to_string(nanos) + "ns";
  if (nanos < kMilli) return sign + Decimal(nanos, 3) + "\u00b5s";
  if (nanos < kSecond) return sign + Decimal(nanos, 6) + "ms";
  std::string text = Decimal(nanos % kMinute, 9) + "s";
  const std::uint64_t minutes = nanos / kMinute;
  if (minutes > 0) text = std::to_string(minutes % 60) + "m" + text;
  if (minutes >= 60) text = std::to_string(minutes / 60) + "h" + text;
  return sign + text;
}

}  // namespace apiserver::v0::text
