#include "cel/run/zone_rule.h"

#include <array>
#include <chrono>
#include <utility>

#include "text/ascii.h"

namespace apiserver::v0::cel {
namespace {

constexpr int kMinute = 60;
constexpr int kHour = 60 * kMinute;
constexpr int kDay = 24 * kHour;

// Reads a rule from the front. A function that returns false or nullopt has found another text, and
// the whole rule is refused.
class Reader {
 public:
  explicit Reader(std::string_view text) : rest_(text) {}

  bool empty() const { return rest_.empty(); }
  bool AtComma() const { return rest_.starts_with(','); }
  bool Take(char c) {
    if (!rest_.starts_with(c)) return false;
    rest_.remove_prefix(1);
    return true;
  }

  // Skips the name of an offset: "CET", "<+0330>".
  bool SkipName() {
    if (Take('<')) {
      const std::size_t end = rest_.find('>');
      if (end == std::string_view::npos) return false;
      rest_.remove_prefix(end + 1);
      return true;
    }
    constexpr std::size_t kBytesMin = 3;
    const std::size_t end = std::min(rest_.find_first_of("0123456789,-+"), rest_.size());
    rest_.remove_prefix(end);
    return end >= kBytesMin;
  }

  // Reads hours, minutes and seconds: "-1", "+3:30", "0:34:08".
  std::optional<int> Time() {
    constexpr int kHoursMax = 24 * 7;
    constexpr int kSixtieths = 59;
    const bool negative = !Take('+') && Take('-');
    const std::optional<int> hours = Number(0, kHoursMax);
    if (!hours.has_value()) return std::nullopt;
    int seconds = *hours * kHour;
    for (const int unit : {kMinute, 1}) {
      if (!Take(':')) break;
      const std::optional<int> count = Number(0, kSixtieths);
      if (!count.has_value()) return std::nullopt;
      seconds += *count * unit;
    }
    return negative ? -seconds : seconds;
  }

  std::optional<YearlyChange> Change() {
    YearlyChange change;
    if (!Day(change)) return std::nullopt;
    constexpr int kDefaultTime = 2 * kHour;
    const std::optional<int> time = Take('/') ? Time() : kDefaultTime;
    if (!time.has_value()) return std::nullopt;
    change.time = *time;
    return change;
  }

 private:
  bool Number(int min, int max, int& number) {
    const std::optional<int> read = Number(min, max);
    number = read.value_or(0);
    return read.has_value();
  }

  std::optional<int> Number(int min, int max) {
    if (rest_.empty() || !text::IsDigit(rest_[0])) return std::nullopt;
    int number = 0;
    while (!rest_.empty() && text::IsDigit(rest_[0])) {
      number = number * 10 + (rest_[0] - '0');
      if (number > max) return std::nullopt;
      rest_.remove_prefix(1);
    }
    return number < min ? std::nullopt : std::optional(number);
  }

  bool Day(YearlyChange& change) {
    constexpr int kDaysMax = 365;
    if (Take('J')) {
      change.kind = YearlyChange::Kind::kJulian;
      return Number(1, kDaysMax, change.day);
    }
    if (Take('M')) {
      change.kind = YearlyChange::Kind::kWeekOfMonth;
      return Number(1, 12, change.month) && Take('.') && Number(1, 5, change.week) && Take('.') &&
             Number(0, 6, change.day);
    }
    change.kind = YearlyChange::Kind::kDayOfYear;
    return Number(0, kDaysMax, change.day);
  }

  std::string_view rest_;
};

// Returns the day of the year, from 0, of "the fifth Sunday of March".
int DayOf(const YearlyChange& change, std::chrono::year year) {
  using std::chrono::sys_days;
  using std::chrono::weekday;
  using std::chrono::weeks;
  const std::chrono::year_month month =
      year / std::chrono::month(static_cast<unsigned>(change.month));
  const auto first = sys_days(month / 1);
  const auto wanted = weekday(static_cast<unsigned>(change.day));
  auto day = first + (wanted - weekday(first));
  const auto last = sys_days(month / std::chrono::last);
  for (int week = 1; week < change.week && day + weeks(1) <= last; ++week) day += weeks(1);
  return static_cast<int>((day - sys_days(year / 1 / 1)).count());
}

// Returns the seconds from the beginning of the year, in UTC, to the change. `offset`: before it.
std::int64_t SecondsTo(const YearlyChange& change, std::chrono::year year, std::int64_t offset) {
  constexpr int kFirstOfMarch = 60;
  int day = change.day;
  switch (change.kind) {
    case YearlyChange::Kind::kJulian:
      if (!year.is_leap() || day < kFirstOfMarch) --day;
      break;
    case YearlyChange::Kind::kDayOfYear:
      break;
    case YearlyChange::Kind::kWeekOfMonth:
      day = DayOf(change, year);
      break;
  }
  return std::int64_t{day} * kDay + change.time - offset;
}

}  // namespace

std::optional<ZoneRule> ZoneRule::Parse(std::string_view text) {
  Reader reader(text);
  ZoneRule rule;
  if (!reader.SkipName()) return std::nullopt;
  const std::optional<int> standard = reader.Time();
  if (!standard.has_value()) return std::nullopt;
  // The text tells what is added to local time.
  rule.standard_offset_ = -*standard;
  if (reader.empty() || reader.AtComma()) return rule;
  if (!reader.SkipName()) return std::nullopt;
  rule.summer_offset_ = rule.standard_offset_ + kHour;
  if (!reader.empty() && !reader.AtComma()) {
    const std::optional<int> summer = reader.Time();
    if (!summer.has_value()) return std::nullopt;
    rule.summer_offset_ = -*summer;
  }
  constexpr std::string_view kDefaultChanges = ",M3.2.0,M11.1.0";
  if (reader.empty()) reader = Reader(kDefaultChanges);
  if (!reader.Take(',') && !reader.Take(';')) return std::nullopt;
  const std::optional<YearlyChange> begin = reader.Change();
  if (!begin.has_value() || !reader.Take(',')) return std::nullopt;
  const std::optional<YearlyChange> end = reader.Change();
  if (!end.has_value() || !reader.empty()) return std::nullopt;
  rule.has_summer_ = true;
  rule.summer_begin_ = *begin;
  rule.summer_end_ = *end;
  return rule;
}

std::int64_t ZoneRule::OffsetAt(std::int64_t unix_seconds) const {
  if (!has_summer_) return standard_offset_;
  using std::chrono::seconds;
  using std::chrono::sys_days;
  using std::chrono::sys_seconds;
  const auto today = std::chrono::floor<std::chrono::days>(sys_seconds(seconds(unix_seconds)));
  const std::chrono::year year = std::chrono::year_month_day(today).year();
  // As in Go, the second of the day of a time before 1970 is negative.
  const std::int64_t second = (today - sys_days(year / 1 / 1)).count() * kDay + unix_seconds % kDay;
  std::int64_t begin = SecondsTo(summer_begin_, year, standard_offset_);
  std::int64_t end = SecondsTo(summer_end_, year, summer_offset_);
  std::int64_t outside = standard_offset_;
  std::int64_t inside = summer_offset_;
  // In the southern hemisphere the year begins in summer.
  if (end < begin) {
    std::swap(begin, end);
    std::swap(outside, inside);
  }
  return second >= begin && second < end ? inside : outside;
}

}  // namespace apiserver::v0::cel
