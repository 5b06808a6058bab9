#include "cel/run/time_zone.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <utility>

namespace cel = apiserver::cel;
using apiserver::FileSystem;
using apiserver::Result;
using cel::TimeZone;
using cel::ZoneRule;

namespace {

std::string BigEndian(std::uint64_t number, unsigned bytes) {
  std::string text;
  while (bytes > 0) text += static_cast<char>(number >> (8U * --bytes));
  return text;
}

// A file with the zones UTC+1 "CET" (0) and UTC+2 "SUM" (1, summer time).
struct File {
  std::initializer_list<std::pair<std::int64_t, char>> transitions = {};
  std::string rule = "";
  char version = '2';

  std::string Block(unsigned time_bytes) const {
    std::string text = BigEndian(0, 4) + BigEndian(0, 4) + BigEndian(0, 4) +
                       BigEndian(transitions.size(), 4) + BigEndian(2, 4) + BigEndian(8, 4);
    for (const auto& [at, zone] : transitions) {
      text += BigEndian(static_cast<std::uint64_t>(at), time_bytes);
    }
    for (const auto& [at, zone] : transitions) text += zone;
    text += BigEndian(3600, 4) + std::string("\0\0", 2);
    text += BigEndian(7200, 4) + std::string("\1\4", 2);
    return text + std::string("CET\0SUM\0", 8);
  }
  std::string Bytes() const {
    const std::string head = "TZif" + std::string(1, version) + std::string(15, '\0');
    if (version == '\0') return head + Block(4);
    return head + Block(4) + head + Block(8) + "\n" + rule + "\n";
  }
};

std::int64_t OffsetIn(const File& file, std::int64_t at) {
  const std::optional<TimeZone> zone = TimeZone::Parse(file.Bytes());
  REQUIRE(zone.has_value());
  return zone->OffsetAt(at);
}

std::int64_t RuleOffset(std::string_view rule, std::int64_t at) {
  const std::optional<ZoneRule> parsed = ZoneRule::Parse(rule);
  INFO(rule);
  REQUIRE(parsed.has_value());
  return parsed->OffsetAt(at);
}

// Seconds since 1970 of days of 2023 and 2024, UTC.
constexpr std::int64_t kDay = 86'400;
constexpr std::int64_t kNewYear2023 = 1'672'531'200;
constexpr std::int64_t kNewYear2024 = kNewYear2023 + 365 * kDay;

}  // namespace

TEST_CASE("cel: a time zone has the offset of the last transition", "[cel]") {
  const File file{.transitions = {{1000, '\1'}, {2000, '\0'}, {3000, '\1'}}};
  CHECK(OffsetIn(file, 999) == 3600);
  CHECK(OffsetIn(file, 1000) == 7200);
  CHECK(OffsetIn(file, 1999) == 7200);
  CHECK(OffsetIn(file, 2000) == 3600);
  CHECK(OffsetIn(file, 3000) == 7200);
  CHECK(OffsetIn(file, 9'000'000'000) == 7200);
}

TEST_CASE("cel: a time zone's first offset is that of standard time", "[cel]") {
  // The first zone is not used by a transition: it counts before them.
  CHECK(OffsetIn({.transitions = {{1000, '\1'}}}, 0) == 3600);
  CHECK(OffsetIn({.transitions = {{1000, '\0'}, {2000, '\1'}}}, 0) == 3600);
  CHECK(OffsetIn({}, 0) == 3600);
}

TEST_CASE("cel: a time zone's rule counts behind the last transition", "[cel]") {
  const File file{.transitions = {{1000, '\0'}}, .rule = "CET-1CEST,M3.5.0,M10.5.0/3"};
  CHECK(OffsetIn(file, 999) == 3600);
  CHECK(OffsetIn(file, kNewYear2023) == 3600);
  CHECK(OffsetIn(file, kNewYear2023 + 180 * kDay) == 7200);
  // A text that is no rule leaves the last offset.
  CHECK(OffsetIn({.transitions = {{1000, '\1'}}, .rule = "?"}, kNewYear2023) == 7200);
}

TEST_CASE("cel: files of version 1 have times of 32 bits", "[cel]") {
  const File file{.transitions = {{-1000, '\1'}, {1000, '\0'}}, .version = '\0'};
  CHECK(OffsetIn(file, -1001) == 3600);
  CHECK(OffsetIn(file, -1000) == 7200);
  CHECK(OffsetIn(file, 1000) == 3600);
}

TEST_CASE("cel: what is no file of a time zone is refused", "[cel]") {
  const std::string good = File{.transitions = {{1000, '\1'}}, .rule = "CET-1"}.Bytes();
  REQUIRE(TimeZone::Parse(good).has_value());
  // Every byte but the rule is needed.
  for (std::size_t size = 0; size + 7 < good.size(); ++size) {
    INFO(size);
    CHECK_FALSE(TimeZone::Parse(good.substr(0, size)).has_value());
  }
  CHECK_FALSE(TimeZone::Parse("").has_value());
  CHECK_FALSE(TimeZone::Parse(File{.version = '4'}.Bytes()).has_value());
  CHECK_FALSE(TimeZone::Parse(File{.transitions = {{1000, '\2'}}}.Bytes()).has_value());
  // The name of the last zone is outside of the names.
  std::string unnamed = good;
  unnamed[unnamed.rfind("CET\0", std::string::npos, 4) - 1] = '\x08';
  CHECK_FALSE(TimeZone::Parse(unnamed).has_value());
}

TEST_CASE("cel: a rule names days by week, by number and without leap days", "[cel]") {
  // The last Sunday of March at 1:00 UTC, 26 March 2023 and 31 March 2024.
  constexpr std::string_view kEurope = "CET-1CEST,M3.5.0,M10.5.0/3";
  CHECK(RuleOffset(kEurope, kNewYear2023 + 84 * kDay + 3599) == 3600);
  CHECK(RuleOffset(kEurope, kNewYear2023 + 84 * kDay + 3600) == 7200);
  CHECK(RuleOffset(kEurope, kNewYear2024 + 90 * kDay + 3599) == 3600);
  CHECK(RuleOffset(kEurope, kNewYear2024 + 90 * kDay + 3600) == 7200);
  // The southern summer goes over the new year.
  constexpr std::string_view kSydney = "AEST-10AEDT,M10.1.0,M4.1.0/3";
  CHECK(RuleOffset(kSydney, kNewYear2023) == 39'600);
  CHECK(RuleOffset(kSydney, kNewYear2023 + 180 * kDay) == 36'000);
  // J60 is 1 March in every year, 59 the 60th day.
  CHECK(RuleOffset("AAA0BBB,J60/0,J300", kNewYear2023 + 59 * kDay - 1) == 0);
  CHECK(RuleOffset("AAA0BBB,J60/0,J300", kNewYear2023 + 59 * kDay) == 3600);
  CHECK(RuleOffset("AAA0BBB,J60/0,J300", kNewYear2024 + 59 * kDay) == 0);
  CHECK(RuleOffset("AAA0BBB,J60/0,J300", kNewYear2024 + 60 * kDay) == 3600);
  CHECK(RuleOffset("AAA0BBB,59/0,300", kNewYear2024 + 59 * kDay) == 3600);
  // Names in brackets, times before midnight, seconds, and the rule of the United States.
  CHECK(RuleOffset("<-03>3<-02>,M3.5.0/-2,M10.5.0/-1", kNewYear2023) == -10'800);
  CHECK(RuleOffset("<-03>3<-02>,M3.5.0/-2,M10.5.0/-1", kNewYear2023 + 180 * kDay) == -7200);
  CHECK(RuleOffset("LMT+0:34:08", 0) == -2048);
  CHECK(RuleOffset("EST5EDT", kNewYear2023 + 180 * kDay) == -14'400);
}

TEST_CASE("cel: what is no rule is refused", "[cel]") {
  for (const std::string_view text :
       {"", "AB1", "ABC", "<AB1", "ABC169", "ABC1:60", "ABC1DEF,", "ABC1DEF,J0,J1", "ABC1DEF,J1",
        "ABC1DEF,M13.1.0,J1", "ABC1DEF,M1.6.0,J1", "ABC1DEF,M1.1.7,J1", "ABC1DEF,M1.1,J1",
        "ABC1DEF,366,1", "ABC1DEF,J1,J2x", "ABC1DEF:J1,J2", "ABC1DEF,J1/,J2"}) {
    INFO(text);
    CHECK_FALSE(ZoneRule::Parse(text).has_value());
  }
}

TEST_CASE("cel: a time zone is looked for where Go looks", "[cel]") {
  const std::unique_ptr<FileSystem> files = apiserver::NewMemoryFileSystem();
  const auto message = [&files](std::string_view name) {
    const Result<TimeZone> zone = cel::LoadTimeZone(*files, name);
    REQUIRE_FALSE(zone.ok());
    return std::string(zone.status().message());
  };
  CHECK(cel::LoadTimeZone(*files, "")->OffsetAt(0) == 0);
  CHECK(cel::LoadTimeZone(*files, "UTC")->OffsetAt(0) == 0);
  CHECK(cel::LoadTimeZone(*files, "Local")->OffsetAt(0) == 0);
  CHECK(message("Europe/Berlin") == "unknown time zone Europe/Berlin");
  CHECK(message("../passwd") == "time: invalid location name");
  CHECK(message("/etc/passwd") == "time: invalid location name");
  CHECK(message("\\x") == "time: invalid location name");
  CHECK(message(std::string_view("a\0b", 3)) == "invalid argument");

  REQUIRE(files->MakeDirectories("/etc/zoneinfo/Europe", 0755).ok());
  REQUIRE(files->WriteAtomically("/etc/zoneinfo/Europe/Berlin", File{}.Bytes(), 0644).ok());
  CHECK(cel::LoadTimeZone(*files, "Europe/Berlin")->OffsetAt(0) == 3600);
  // The error of an earlier directory counts if no other has the zone.
  REQUIRE(files->MakeDirectories("/usr/share/zoneinfo/Europe", 0755).ok());
  REQUIRE(files->WriteAtomically("/usr/share/zoneinfo/Europe/Berlin", "x", 0644).ok());
  REQUIRE(files->WriteAtomically("/usr/share/zoneinfo/Europe/Paris", "x", 0644).ok());
  CHECK(cel::LoadTimeZone(*files, "Europe/Berlin")->OffsetAt(0) == 3600);
  CHECK(message("Europe/Paris") == "malformed time zone information");
  REQUIRE(files->WriteAtomically("/etc/localtime", File{}.Bytes(), 0644).ok());
  CHECK(cel::LoadTimeZone(*files, "Local")->OffsetAt(0) == 3600);
}
