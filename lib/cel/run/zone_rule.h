#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

// The rule at the end of a time zone's file, which tells the offsets behind the last transition:
// "CET-1CEST,M3.5.0,M10.5.0/3". A TZ variable of POSIX, read as tzset of Go's time package does.
namespace apiserver::inline v0::cel {

// A day and time of the year at which the offset changes.
struct YearlyChange {
  enum class Kind : std::uint8_t {
    kJulian,       // J60: day 1 to 365, which never counts 29 February.
    kDayOfYear,    // 59: day 0 to 365.
    kWeekOfMonth,  // M3.5.0: month, week (5: the last) and day of the week.
  };
  Kind kind = Kind::kJulian;
  int day = 0;
  int week = 0;
  int month = 0;
  int time = 0;  // Seconds of the day, by the clock before the change. May be negative.
};

class ZoneRule {
 public:
  // Parses a rule. nullopt: it is none, and the last transition counts for ever.
  static std::optional<ZoneRule> Parse(std::string_view text);

  // Returns the seconds east of UTC at a time, given in seconds since 1970.
  std::int64_t OffsetAt(std::int64_t unix_seconds) const;

 private:
  std::int64_t standard_offset_ = 0;
  std::int64_t summer_offset_ = 0;
  bool has_summer_ = false;
  YearlyChange summer_begin_;
  YearlyChange summer_end_;
};

}  // namespace apiserver::inline v0::cel
