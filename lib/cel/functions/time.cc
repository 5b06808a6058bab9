#include <array>
#include <charconv>
#include <chrono>
#include <memory>

#include "apiserver/base/file_system.h"
#include "cel/functions/libraries.h"
#include "cel/run/time_zone.h"
#include "cel/types/spell.h"
#include "text/ascii.h"
#include "text/quote.h"

// Parts of timestamps and durations: common/stdlib/standard.go of cel-go.
namespace apiserver::v0::cel::functions {
namespace time_rows {
namespace {

using types::kDuration;
using types::kInt;
using types::kString;
using types::kTimestamp;

// Computes one part of a time, of which the seconds count from 1970 by the zone's clock.
using Part = std::int64_t (*)(std::int64_t seconds, std::uint32_t nanoseconds);

constexpr std::int64_t kMinute = 60;
constexpr std::int64_t kHour = 60 * kMinute;
constexpr std::int64_t kDay = 24 * kHour;
constexpr std::int64_t kNanosecondsOfSecond = 1'000'000'000;

std::chrono::sys_days DayOf(std::int64_t seconds) {
  return std::chrono::floor<std::chrono::days>(
      std::chrono::sys_seconds(std::chrono::seconds(seconds)));
}
std::chrono::year_month_day DateOf(std::int64_t seconds) { return DayOf(seconds); }
std::int64_t SecondOfDay(std::int64_t seconds) {
  return seconds - std::int64_t{DayOf(seconds).time_since_epoch().count()} * kDay;
}

std::int64_t FullYear(std::int64_t seconds, std::uint32_t) {
  return static_cast<int>(DateOf(seconds).year());
}
std::int64_t Month(std::int64_t seconds, std::uint32_t) {
  return static_cast<unsigned>(DateOf(seconds).month()) - 1;
}
std::int64_t DayOfYear(std::int64_t seconds, std::uint32_t) {
  const std::chrono::sys_days new_year = DateOf(seconds).year() / 1 / 1;
  return (DayOf(seconds) - new_year).count();
}
std::int64_t Date(std::int64_t seconds, std::uint32_t) {
  return static_cast<unsigned>(DateOf(seconds).day());
}
std::int64_t DayOfMonth(std::int64_t seconds, std::uint32_t) { return Date(seconds, 0) - 1; }
std::int64_t DayOfWeek(std::int64_t seconds, std::uint32_t) {
  return std::chrono::weekday(DayOf(seconds)).c_encoding();
}
std::int64_t Hours(std::int64_t seconds, std::uint32_t) { return SecondOfDay(seconds) / kHour; }
std::int64_t Minutes(std::int64_t seconds, std::uint32_t) {
  return SecondOfDay(seconds) % kHour / kMinute;
}
std::int64_t Seconds(std::int64_t seconds, std::uint32_t) { return SecondOfDay(seconds) % kMinute; }
std::int64_t Milliseconds(std::int64_t, std::uint32_t nanoseconds) {
  return nanoseconds / 1'000'000;
}

// Divides as Go does, in double, which rounds up just below large numbers.
std::int64_t InUnits(std::int64_t nanoseconds, std::int64_t unit) {
  const std::int64_t whole = nanoseconds / unit;
  const double rest = static_cast<double>(nanoseconds % unit) / static_cast<double>(unit);
  return static_cast<std::int64_t>(static_cast<double>(whole) + rest);
}

// Reads Go's strconv.Atoi.
Result<std::int64_t> ReadNumber(std::string_view text) {
  const auto wrong = [text](std::string_view why) {
    std::string error = "strconv.Atoi: parsing " + text::Quote(text);
    return Status(Reason::kBadRequest, error.append(": ").append(why));
  };
  std::string_view digits = text;
  if (digits.starts_with('+')) digits.remove_prefix(1);
  std::int64_t number = 0;
  const char* const end = digits.data() + digits.size();
  const auto [read_to, code] = std::from_chars(digits.data(), end, number);
  const bool two_signs = digits.size() < text.size() && digits.starts_with('-');
  if (code == std::errc::result_out_of_range) return wrong("value out of range");
  if (code != std::errc() || read_to != end || two_signs) return wrong("invalid syntax");
  return number;
}

// Reads "+02:00". Numbers that are too large wrap around, as in Go.
Result<TimeZone> ReadOffset(std::string_view text, std::size_t colon) {
  constexpr std::uint64_t kNanosecondsOfMinute = 60'000'000'000;
  const Result<std::int64_t> hours = ReadNumber(text.substr(0, colon));
  if (!hours.ok()) return hours.status();
  const Result<std::int64_t> minutes = ReadNumber(text.substr(colon + 1));
  if (!minutes.ok()) return minutes.status();
  std::uint64_t sum = static_cast<std::uint64_t>(*hours) * 60;
  const auto rest = static_cast<std::uint64_t>(*minutes);
  sum = text[0] == '-' ? sum - rest : sum + rest;
  const auto nanoseconds = static_cast<std::int64_t>(sum * kNanosecondsOfMinute);
  return TimeZone(InUnits(nanoseconds, kNanosecondsOfSecond));
}

Result<TimeZone> ReadZone(std::string_view text) {
  const std::size_t colon = text.find(':');
  if (colon != std::string_view::npos) return ReadOffset(text, colon);
  return LoadTimeZone(RealFileSystem(), text);
}

// Reads a constant zone once, when the program is planned. An error is found again, and returned,
// when the expression is evaluated.
Result<std::shared_ptr<const void>> PrepareZone(std::span<const Value* const> arguments) {
  if (arguments.size() != 2 || arguments[1] == nullptr || !arguments[1]->is_string()) {
    return std::shared_ptr<const void>();
  }
  Result<TimeZone> zone = ReadZone(arguments[1]->AsText());
  if (!zone.ok()) return std::shared_ptr<const void>();
  return std::shared_ptr<const void>(std::make_shared<const TimeZone>(*std::move(zone)));
}

// Returns a part of a time by a clock that is `offset` seconds east of UTC.
Value ValueOf(Part part, Time time, std::int64_t offset) {
  return Value::Int(part(time.seconds + offset, time.nanoseconds));
}

template <Part part>
Value InUtc(CallContext&, std::span<const Value> arguments) {
  return ValueOf(part, arguments[0].AsTime(), 0);
}

// The work of reading a zone's file, in steps of an evaluation's bound.
constexpr std::uint64_t kStepsOfFile = 1'000;

// A zone that is no constant is read from its file at each call, as Go does.
template <Part part>
Value InZone(CallContext& call, std::span<const Value> arguments) {
  const Time time = arguments[0].AsTime();
  if (const auto* const zone = static_cast<const TimeZone*>(call.prepared())) {
    return ValueOf(part, time, zone->OffsetAt(time.seconds));
  }
  const std::string_view name = arguments[1].AsText();
  const bool reads_file =
      !name.empty() && name != "UTC" && name.find(':') == std::string_view::npos;
  if (reads_file && !call.context().may_block()) return call.WouldBlock();
  if (reads_file && !call.arena().TakeWork(kStepsOfFile)) return call.OverLimit();
  const Result<TimeZone> zone = ReadZone(name);
  if (!zone.ok()) return call.Error(zone.status().message());
  return ValueOf(part, time, zone->OffsetAt(time.seconds));
}

// Returns a whole duration in seconds, minutes, ….
template <std::int64_t seconds>
Value InWhole(CallContext&, std::span<const Value> arguments) {
  return Value::Int(InUnits(arguments[0].AsInt(), seconds * kNanosecondsOfSecond));
}
Value InMilliseconds(CallContext&, std::span<const Value> arguments) {
  return Value::Int(arguments[0].AsInt() / 1'000'000);
}

constexpr Overload Utc(std::string_view id, Handler handler) {
  return {.id = id, .signature = Member(kInt, kTimestamp), .handler = handler};
}
constexpr Overload Zoned(std::string_view id, Handler handler) {
  return {.id = id, .signature = Member(kInt, kTimestamp, kString), .handler = handler};
}
constexpr Overload OfDuration(std::string_view id, Handler handler) {
  return {.id = id, .signature = Member(kInt, kDuration), .handler = handler};
}

constexpr Overload kFullYear[] = {Utc("timestamp_to_year", InUtc<FullYear>),
                                  Zoned("timestamp_to_year_with_tz", InZone<FullYear>)};
constexpr Overload kMonth[] = {Utc("timestamp_to_month", InUtc<Month>),
                               Zoned("timestamp_to_month_with_tz", InZone<Month>)};
constexpr Overload kDayOfYear[] = {Utc("timestamp_to_day_of_year", InUtc<DayOfYear>),
                                   Zoned("timestamp_to_day_of_year_with_tz", InZone<DayOfYear>)};
constexpr Overload kDayOfMonth[] = {Utc("timestamp_to_day_of_month", InUtc<DayOfMonth>),
                                    Zoned("timestamp_to_day_of_month_with_tz", InZone<DayOfMonth>)};
constexpr Overload kDate[] = {Utc("timestamp_to_day_of_month_1_based", InUtc<Date>),
                              Zoned("timestamp_to_day_of_month_1_based_with_tz", InZone<Date>)};
constexpr Overload kDayOfWeek[] = {Utc("timestamp_to_day_of_week", InUtc<DayOfWeek>),
                                   Zoned("timestamp_to_day_of_week_with_tz", InZone<DayOfWeek>)};
constexpr Overload kHours[] = {Utc("timestamp_to_hours", InUtc<Hours>),
                               Zoned("timestamp_to_hours_with_tz", InZone<Hours>),
                               OfDuration("duration_to_hours", InWhole<kHour>)};
constexpr Overload kMinutes[] = {Utc("timestamp_to_minutes", InUtc<Minutes>),
                                 Zoned("timestamp_to_minutes_with_tz", InZone<Minutes>),
                                 OfDuration("duration_to_minutes", InWhole<kMinute>)};
constexpr Overload kSeconds[] = {Utc("timestamp_to_seconds", InUtc<Seconds>),
                                 Zoned("timestamp_to_seconds_tz", InZone<Seconds>),
                                 OfDuration("duration_to_seconds", InWhole<1>)};
constexpr Overload kMilliseconds[] = {
    Utc("timestamp_to_milliseconds", InUtc<Milliseconds>),
    Zoned("timestamp_to_milliseconds_with_tz", InZone<Milliseconds>),
    OfDuration("duration_to_milliseconds", InMilliseconds)};

constexpr Function Getter(std::string_view name, std::span<const Overload> overloads) {
  return {.name = name, .overloads = overloads, .prepare = PrepareZone};
}

constexpr Function kFunctions[] = {
    Getter("getFullYear", kFullYear),   Getter("getMonth", kMonth),
    Getter("getDayOfYear", kDayOfYear), Getter("getDayOfMonth", kDayOfMonth),
    Getter("getDate", kDate),           Getter("getDayOfWeek", kDayOfWeek),
    Getter("getHours", kHours),         Getter("getMinutes", kMinutes),
    Getter("getSeconds", kSeconds),     Getter("getMilliseconds", kMilliseconds),
};

}  // namespace
}  // namespace time_rows

std::span<const Function> Times() { return time_rows::kFunctions; }

}  // namespace apiserver::v0::cel::functions
