#include "apiserver/runtime/time.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdio>
#include <string_view>

#include "apiserver/base/field_path.h"
#include "base/from_text.h"
#include "runtime/time_text.h"
#include "text/duration.h"

namespace apiserver::v0::runtime {

namespace {

constexpr std::string_view kLayout = "2006-01-02T15:04:05Z07:00";
constexpr std::string_view kMicroLayout = "2006-01-02T15:04:05.000000Z07:00";

bool IsDigit(std::string_view text, std::size_t at) {
  return at < text.size() && text[at] >= '0' && text[at] <= '9';
}

// Days since 1970-01-01 of a date in the proleptic Gregorian calendar.
std::int64_t DaysOf(std::int64_t year, int month, int day) {
  return std::chrono::sys_days(std::chrono::year(static_cast<int>(year)) /
                               std::chrono::month(static_cast<unsigned>(month)) /
                               std::chrono::day(static_cast<unsigned>(day)))
      .time_since_epoch()
      .count();
}

bool IsDate(int year, int month, int day) {
  return (std::chrono::year(year) / std::chrono::month(static_cast<unsigned>(month)) /
          std::chrono::day(static_cast<unsigned>(day)))
      .ok();
}

// The range of years with four digits.
constexpr std::int64_t kYear0 = -62167219200;
constexpr std::int64_t kYear10000 = 253402300800;

// Walks a text along a layout as Go's time.Parse does, and words its errors.
class TimeParser {
 public:
  TimeParser(std::string_view text, std::string_view layout)
      : text_(text), layout_(layout), rest_(text) {}

  Result<UnixTime> Parse(bool micro) {
    int year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0;
    // The layout's order decides which error is reported. The day is checked last, as in Go.
    const bool parsed = Year(year) && Literal('-') && Number("01", true, month) &&
                        InRange("month", month >= 1 && month <= 12) && Literal('-') &&
                        Number("02", true, day) && Literal('T') && Number("15", false, hour) &&
                        InRange("hour", hour < 24) && Literal(':') && Number("04", true, minute) &&
                        InRange("minute", minute < 60) && Literal(':') &&
                        Number("05", true, second) && InRange("second", second < 60) &&
                        (micro ? SixDigits() : Fraction()) && Zone() && End() &&
                        InRange("day", IsDate(year, month, day));
    if (!parsed) return Status(Reason::kBadRequest, error_);
    const int of_day = hour * 3600 + minute * 60 + second;
    const UnixTime time{DaysOf(year, month, day) * 86400 + of_day - offset_seconds_, nanos_};
    // Go takes what is another year in UTC, and then cannot read what it has written.
    if (InRange("year", time.seconds >= kYear0 && time.seconds < kYear10000)) return time;
    return Status(Reason::kBadRequest, error_);
  }

 private:
  bool CannotParse(std::string_view element) {
    error_ = "parsing time " + field::Quote(text_) + " as " + field::Quote(layout_) +
             ": cannot parse " + field::Quote(rest_) + " as " + field::Quote(element);
    return false;
  }
  bool InRange(std::string_view what, bool holds) {
    if (holds) return true;
    error_ = "parsing time " + field::Quote(text_) + ": " + std::string(what) + " out of range";
    return false;
  }
  bool Literal(char c) {
    if (!rest_.starts_with(c)) return CannotParse(std::string_view(&c, 1));
    rest_.remove_prefix(1);
    return true;
  }
  bool Year(int& year) {
    if (rest_.size() < 4 || !IsDigit(rest_, 0)) return CannotParse("2006");
    for (std::size_t i = 0; i < 4; ++i) {
      if (!IsDigit(rest_, i)) return CannotParse("2006");
      year = year * 10 + (rest_[i] - '0');
    }
    rest_.remove_prefix(4);
    return true;
  }
  // Two digits; one is enough unless `fixed`.
  bool Number(std::string_view element, bool fixed, int& number) {
    if (!IsDigit(rest_, 0) || (fixed && !IsDigit(rest_, 1))) return CannotParse(element);
    const std::size_t size = IsDigit(rest_, 1) ? 2 : 1;
    for (std::size_t i = 0; i < size; ++i) number = number * 10 + (rest_[i] - '0');
    rest_.remove_prefix(size);
    return true;
  }
  void TakeNanos(std::size_t digits) {
    int scale = 100'000'000;
    for (std::size_t i = 0; i < digits; ++i, scale /= 10) nanos_ += (rest_[i] - '0') * scale;
    rest_.remove_prefix(digits);
  }
  bool Fraction() {
    const bool present = (rest_.starts_with('.') || rest_.starts_with(',')) && IsDigit(rest_, 1);
    if (!present) return true;
    rest_.remove_prefix(1);
    std::size_t digits = 0;
    while (IsDigit(rest_, digits)) ++digits;
    TakeNanos(digits);
    return true;
  }
  bool SixDigits() {
    constexpr std::size_t kDigits = 6;
    const bool point = rest_.starts_with('.') || rest_.starts_with(',');
    if (!point) return CannotParse(".000000");
    for (std::size_t i = 1; i <= kDigits; ++i) {
      if (!IsDigit(rest_, i)) return CannotParse(".000000");
    }
    rest_.remove_prefix(1);
    TakeNanos(kDigits);
    return true;
  }
  bool Zone() {
    if (rest_.starts_with('Z')) {
      rest_.remove_prefix(1);
      return true;
    }
    const bool shaped = rest_.size() >= 6 && (rest_[0] == '+' || rest_[0] == '-') &&
                        IsDigit(rest_, 1) && IsDigit(rest_, 2) && rest_[3] == ':' &&
                        IsDigit(rest_, 4) && IsDigit(rest_, 5);
    if (!shaped) return CannotParse("Z07:00");
    const int hours = (rest_[1] - '0') * 10 + (rest_[2] - '0');
    const int minutes = (rest_[4] - '0') * 10 + (rest_[5] - '0');
    if (!InRange("time zone offset hour", hours <= 24)) return false;
    if (!InRange("time zone offset minute", minutes <= 60)) return false;
    offset_seconds_ = (hours * 60 + minutes) * 60 * (rest_[0] == '-' ? -1 : 1);
    rest_.remove_prefix(6);
    return true;
  }
  bool End() {
    if (rest_.empty()) return true;
    error_ = "parsing time " + field::Quote(text_) + ": extra text: " + field::Quote(rest_);
    return false;
  }

  std::string_view text_;
  std::string_view layout_;
  std::string_view rest_;
  std::int32_t nanos_ = 0;
  int offset_seconds_ = 0;
  std::string error_;
};

// Overwrites two digits.
void PutTwo(unsigned number, char* out) {
  out[0] = static_cast<char>('0' + number / 10);
  out[1] = static_cast<char>('0' + number % 10);
}

// Overwrites the six digits of a fraction.
void PutMicros(std::int32_t nanos, char* out) {
  const auto micros = static_cast<unsigned>(nanos / 1000);
  PutTwo(micros / 10'000, out);
  PutTwo(micros / 100 % 100, out + 2);
  PutTwo(micros % 100, out + 4);
}

// Formats with a fraction of six digits if `micro`. Avoids printf and the heap, since it runs for
// each audited request.
std::string_view PutUtc(UnixTime time, bool micro, TimeText& text) {
  constexpr std::int64_t kDay = 86400;
  const std::int64_t seconds = time.seconds;
  const std::int64_t days = (seconds >= 0 ? seconds : seconds - kDay + 1) / kDay;
  const auto in_day = static_cast<unsigned>(seconds - days * kDay);
  const std::chrono::year_month_day date(
      std::chrono::sys_days(std::chrono::days(static_cast<int>(days))));
  const int year = static_cast<int>(date.year());
  const std::string_view form = micro ? "0000-00-00T00:00:00.000000Z" : "0000-00-00T00:00:00Z";
  const bool usual = year >= 0 && year <= 9999;
  std::array<char, 16> digits{};
  std::size_t year_size = 4;
  if (!usual) {
    year_size = static_cast<std::size_t>(std::snprintf(digits.data(), digits.size(), "%04d", year));
    std::copy_n(digits.data(), year_size, text.data());
  }
  form.copy(text.data() + year_size, form.size() - 4, 4);
  // Where the text would begin if the year had four digits.
  char* const out = text.data() + year_size - 4;
  PutTwo(static_cast<unsigned>(date.month()), out + 5);
  PutTwo(static_cast<unsigned>(date.day()), out + 8);
  PutTwo(in_day / 3600, out + 11);
  PutTwo(in_day / 60 % 60, out + 14);
  PutTwo(in_day % 60, out + 17);
  if (micro) PutMicros(time.nanos, out + 20);
  if (usual) {
    PutTwo(static_cast<unsigned>(year) / 100, out);
    PutTwo(static_cast<unsigned>(year) % 100, out + 2);
  }
  return {text.data(), year_size + form.size() - 4};
}

}  // namespace

UnixTime UnixTime::From(std::chrono::system_clock::time_point time) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(time);
  const auto nanos = std::chrono::duration_cast<std::chrono::nanoseconds>(time - seconds);
  return {seconds.time_since_epoch().count(), static_cast<std::int32_t>(nanos.count())};
}

std::chrono::system_clock::time_point UnixTime::ToSystem() const {
  using Clock = std::chrono::system_clock;
  const auto max = std::chrono::duration_cast<std::chrono::seconds>(Clock::duration::max()).count();
  if (seconds >= max) return Clock::time_point::max();
  if (seconds <= -max) return Clock::time_point::min();
  return Clock::time_point(std::chrono::duration_cast<Clock::duration>(
      std::chrono::seconds(seconds) + std::chrono::nanoseconds(nanos)));
}

Result<UnixTime> ParseTime(std::string_view text) {
  return TimeParser(text, kLayout).Parse(/*micro=*/false);
}

Result<UnixTime> ParseMicroTime(std::string_view text) {
  return TimeParser(text, kMicroLayout).Parse(/*micro=*/true);
}

Result<std::chrono::nanoseconds> ParseDuration(std::string_view text) {
  return FromText(text::ParseDuration(text), Reason::kBadRequest);
}

std::string FormatDuration(std::chrono::nanoseconds duration) {
  return text::FormatDuration(duration);
}

std::string FormatTime(UnixTime time) {
  TimeText text;
  return std::string(PutUtc(time, /*micro=*/false, text));
}

std::string FormatMicroTime(UnixTime time) {
  TimeText text;
  return std::string(PutMicroTime(time, text));
}

void PutFraction(UnixTime time, TimeText& text) { PutMicros(time.nanos, text.data() + 20); }

std::string_view PutMicroTime(UnixTime time, TimeText& text) {
  return PutUtc(time, /*micro=*/true, text);
}

}  // namespace apiserver::v0::runtime
