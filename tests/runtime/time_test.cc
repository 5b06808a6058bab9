#include "apiserver/runtime/time.h"

#include <catch2/catch.hpp>

namespace apiserver::inline v0::runtime {
namespace {

using std::chrono::nanoseconds;

TEST_CASE("runtime: times in any zone and with fractions print in UTC seconds", "[runtime]") {
  struct Row {
    const char* text;
    const char* printed;
  };
  constexpr Row kRows[] = {
      {"2006-01-02T15:04:05Z", "2006-01-02T15:04:05Z"},
      {"2006-01-02T15:04:05+07:00", "2006-01-02T08:04:05Z"},
      {"2006-01-02T15:04:05-07:30", "2006-01-02T22:34:05Z"},
      {"2006-01-02T15:04:05.999999999999Z", "2006-01-02T15:04:05Z"},
      {"2006-01-02T15:04:05,5Z", "2006-01-02T15:04:05Z"},
      {"2006-01-02T5:04:05Z", "2006-01-02T05:04:05Z"},
      {"0001-01-01T00:00:00Z", "0001-01-01T00:00:00Z"},
      {"0000-02-29T00:00:00Z", "0000-02-29T00:00:00Z"},
      {"1969-12-31T23:59:59Z", "1969-12-31T23:59:59Z"},
      {"2024-02-29T00:00:00Z", "2024-02-29T00:00:00Z"},
  };
  for (const Row& row : kRows) {
    CAPTURE(row.text);
    CHECK(FormatTime(ParseTime(row.text).value()) == row.printed);
  }
}

TEST_CASE("runtime: what is no time is refused in Go's words", "[runtime]") {
  struct Row {
    const char* text;
    const char* message;
  };
  constexpr Row kRows[] = {
      {"", R"(parsing time "" as "2006-01-02T15:04:05Z07:00": cannot parse "" as "2006")"},
      {"yesterday", R"(parsing time "yesterday" as "2006-01-02T15:04:05Z07:00": cannot parse )"
                    R"("yesterday" as "2006")"},
      {"2006-01-02",
       R"(parsing time "2006-01-02" as "2006-01-02T15:04:05Z07:00": cannot parse "" as "T")"},
      {"2006-13-02T15:04:05Z", R"(parsing time "2006-13-02T15:04:05Z": month out of range)"},
      {"2006-02-30T15:04:05Z", R"(parsing time "2006-02-30T15:04:05Z": day out of range)"},
      {"9999-12-31T23:59:59-01:00",
       R"(parsing time "9999-12-31T23:59:59-01:00": year out of range)"},
      {"0000-01-01T00:00:00+01:00",
       R"(parsing time "0000-01-01T00:00:00+01:00": year out of range)"},
      {"2006-01-02T24:04:05Z", R"(parsing time "2006-01-02T24:04:05Z": hour out of range)"},
      {"2006-01-02T15:60:05Z", R"(parsing time "2006-01-02T15:60:05Z": minute out of range)"},
      {"2006-01-02T15:04:60Z", R"(parsing time "2006-01-02T15:04:60Z": second out of range)"},
      {"2006-01-02T15:04:05",
       R"(parsing time "2006-01-02T15:04:05" as "2006-01-02T15:04:05Z07:00": cannot parse "" )"
       R"(as "Z07:00")"},
      {"2006-01-02T15:04:05ZZ", R"(parsing time "2006-01-02T15:04:05ZZ": extra text: "Z")"},
      {"2006-01-02T15:04:05+25:00",
       R"(parsing time "2006-01-02T15:04:05+25:00": time zone offset hour out of range)"},
  };
  for (const Row& row : kRows) {
    CHECK(ParseTime(row.text).status().message() == row.message);
  }
}

TEST_CASE("runtime: micro times have six digits", "[runtime]") {
  const UnixTime time = ParseMicroTime("2006-01-02T15:04:05.000123+01:00").value();
  CHECK(FormatMicroTime(time) == "2006-01-02T14:04:05.000123Z");
  CHECK(FormatMicroTime({0, 999'999'999}) == "1970-01-01T00:00:00.999999Z");
  CHECK(ParseMicroTime("2006-01-02T15:04:05Z").status().message() ==
        R"(parsing time "2006-01-02T15:04:05Z" as "2006-01-02T15:04:05.000000Z07:00": )"
        R"(cannot parse "Z" as ".000000")");
  CHECK_FALSE(ParseMicroTime("2006-01-02T15:04:05.1234567Z").ok());
}

// As GNU date prints them: date -u -d @SECONDS +%Y-%m-%dT%H:%M:%S.
TEST_CASE("runtime: times print with all their zeros, on every kind of day", "[runtime]") {
  struct Row {
    std::int64_t seconds;
    std::int32_t nanos;
    const char* printed;
  };
  constexpr Row kRows[] = {
      {0, 0, "1970-01-01T00:00:00.000000Z"},
      {-1, 999, "1969-12-31T23:59:59.000000Z"},
      {-62135596800, 0, "0001-01-01T00:00:00.000000Z"},
      {-62162121600, 1'000, "0000-02-29T00:00:00.000001Z"},
      {951'868'799, 1'234'567, "2000-02-29T23:59:59.001234Z"},
      {4'107'542'400, 120'000'000, "2100-03-01T00:00:00.120000Z"},
      {1'700'000'000, 999'999'999, "2023-11-14T22:13:20.999999Z"},
      {253'402'300'799, 0, "9999-12-31T23:59:59.000000Z"},
      // What four digits cannot say.
      {253'402'300'800, 0, "10000-01-01T00:00:00.000000Z"},
      {-62'167'219'201, 0, "-001-12-31T23:59:59.000000Z"},
  };
  for (const Row& row : kRows) {
    CHECK(FormatMicroTime({row.seconds, row.nanos}) == row.printed);
    const std::string printed = row.printed;
    CHECK(FormatTime({row.seconds, row.nanos}) == printed.substr(0, printed.size() - 8) + "Z");
  }
}

TEST_CASE("runtime: times turn into system_clock and back", "[runtime]") {
  const UnixTime time{1'700'000'000, 5};
  CHECK(UnixTime::From(time.ToSystem()) == time);
  const auto before = std::chrono::system_clock::time_point(nanoseconds(-1));
  CHECK(UnixTime::From(before) == UnixTime{-1, 999'999'999});
  CHECK(UnixTime().is_zero());
  CHECK(UnixTime().ToSystem() == std::chrono::system_clock::time_point::min());
}

TEST_CASE("runtime: what is no duration is a bad request in Go's words", "[runtime]") {
  const Status wrong = ParseDuration("1d").status();
  CHECK(wrong.reason() == Reason::kBadRequest);
  CHECK(wrong.message() == R"(time: unknown unit "d" in duration "1d")");
  CHECK(FormatDuration(ParseDuration("90m").value()) == "1h30m0s");
}

}  // namespace
}  // namespace apiserver::inline v0::runtime
