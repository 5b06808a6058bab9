#include "apiserver/options/flag_set.h"

#include <catch2/catch.hpp>

#include "read_flags.h"

using apiserver::Reason;
using apiserver::options::FirstGiven;
using apiserver::options::Flags;
using apiserver::options::ParseDuration;
using apiserver::testing::ReadFlags;
using std::chrono::milliseconds;

TEST_CASE("options: a duration is hours, minutes, seconds and milliseconds, added up",
          "[options]") {
  CHECK(ParseDuration("0").value() == milliseconds(0));
  CHECK(ParseDuration("0s").value() == milliseconds(0));
  CHECK(ParseDuration("500ms").value() == milliseconds(500));
  CHECK(ParseDuration("1m30s").value() == milliseconds(90'000));
  CHECK(ParseDuration("2h5m").value() == milliseconds(7'500'000));
  CHECK(ParseDuration("1000000000h").value() == milliseconds(3'600'000'000'000'000));
}

TEST_CASE("options: what is no duration is refused with an example", "[options]") {
  for (const char* text : {"", "5", "s", "-5s", "1.5s", "5d", "5us", "1m30", "1000000001h",
                           "99999999999999999999s", " 5s", "5s "}) {
    const auto read = ParseDuration(text);
    CAPTURE(text);
    REQUIRE_FALSE(read.ok());
    CHECK(read.status().reason() == Reason::kInvalid);
    CHECK(read.status().message() ==
          "\"" + std::string(text) + "\" is no duration; give one like 5s, 1m30s or 500ms");
  }
}

TEST_CASE("options: the first flag given is the first of the list, not of the command line",
          "[options]") {
  ReadFlags set;
  std::string value;
  Flags flags;
  for (const char* name : {"--one", "--two", "--three"}) {
    flags.push_back(set.Add({.name = name, .value = &value, .help = ""}));
  }
  CHECK(FirstGiven({}).empty());
  CHECK(FirstGiven(flags).empty());
  REQUIRE(set.Read({{"--three", "3"}, {"--two", "2"}}).empty());
  CHECK(FirstGiven(flags) == "--two");
}
