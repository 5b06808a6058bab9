#include "text/duration.h"

#include <catch2/catch.hpp>

#include <cstdint>
#include <limits>

namespace apiserver::inline v0::text {
namespace {

using std::chrono::nanoseconds;

// Go's time.TestParseDuration and time.TestDurationString
TEST_CASE("text: durations parse and print as in Go", "[text]") {
  struct Row {
    const char* text;
    std::int64_t nanos;
    const char* printed;
  };
  constexpr Row kRows[] = {
      {"0", 0, "0s"},
      {"5s", 5'000'000'000, "5s"},
      {"-5s", -5'000'000'000, "-5s"},
      {"+5s", 5'000'000'000, "5s"},
      {"5.0s", 5'000'000'000, "5s"},
      {".5s", 500'000'000, "500ms"},
      {"1.004s", 1'004'000'000, "1.004s"},
      {"100.00100s", 100'001'000'000, "1m40.001s"},
      {"10ns", 10, "10ns"},
      {"1100ns", 1'100, "1.1\u00b5s"},
      {"12us", 12'000, "12\u00b5s"},
      {"12\u03bcs", 12'000, "12\u00b5s"},
      {"2200us", 2'200'000, "2.2ms"},
      {"300ms", 300'000'000, "300ms"},
      {"-1.5h", -5'400'000'000'000, "-1h30m0s"},
      {"1h", 3'600'000'000'000, "1h0m0s"},
      {"3h30m", 12'600'000'000'000, "3h30m0s"},
      {"-2m3.4s", -123'400'000'000, "-2m3.4s"},
      {"39h9m14.425s", 140'954'425'000'000, "39h9m14.425s"},
      {"9223372036854775807ns", 9'223'372'036'854'775'807, "2562047h47m16.854775807s"},
      {"0.3333333333333333333h", 1'200'000'000'000, "20m0s"},
  };
  for (const Row& row : kRows) {
    CAPTURE(row.text);
    CHECK(*ParseDuration(row.text) == nanoseconds(row.nanos));
    CHECK(FormatDuration(nanoseconds(row.nanos)) == row.printed);
  }
  constexpr auto kMin = std::numeric_limits<std::int64_t>::min();
  CHECK(*ParseDuration("-9223372036854775808ns") == nanoseconds(kMin));
  CHECK(FormatDuration(nanoseconds(kMin)) == "-2562047h47m16.854775808s");
}

TEST_CASE("text: what is no duration is refused in Go's words", "[text]") {
  const auto message = [](const char* text) {
    const Read<nanoseconds> read = ParseDuration(text);
    return read.ok() ? "" : read.error().message();
  };
  CHECK(message("") == R"(time: invalid duration "")");
  CHECK(message("3") == R"(time: missing unit in duration "3")");
  CHECK(message("-") == R"(time: invalid duration "-")");
  CHECK(message(".s") == R"(time: invalid duration ".s")");
  CHECK(message("1d") == R"(time: unknown unit "d" in duration "1d")");
  CHECK(message("9223372036854775808ns") == R"(time: invalid duration "9223372036854775808ns")");
  CHECK(message("1h-2m") == R"(time: unknown unit "h-" in duration "1h-2m")");
  CHECK(message("9999999999999h") == R"(time: invalid duration "9999999999999h")");
  CHECK(message("3000000h") == R"(time: invalid duration "3000000h")");
}

}  // namespace
}  // namespace apiserver::inline v0::text
