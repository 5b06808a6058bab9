#include "http/date.h"

#include <catch2/catch.hpp>
#include <chrono>
#include <string>

namespace apiserver::inline v0::http {
namespace {

using std::chrono::sys_seconds;

sys_seconds At(long seconds) { return sys_seconds(std::chrono::seconds(seconds)); }

TEST_CASE("http: a date is written as headers have it", "[http]") {
  CHECK(FormatDate(At(784'111'777)) == "Sun, 06 Nov 1994 08:49:37 GMT");
  CHECK(FormatDate(At(0)) == "Thu, 01 Jan 1970 00:00:00 GMT");
  CHECK(FormatDate(At(-1)) == "Wed, 31 Dec 1969 23:59:59 GMT");
  CHECK(FormatDate(At(951'827'696)) == "Tue, 29 Feb 2000 12:34:56 GMT");
  CHECK(FormatDate(At(253'402'300'799)) == "Fri, 31 Dec 9999 23:59:59 GMT");
}

TEST_CASE("http: a date that was written is read as the same second", "[http]") {
  // A step with no common factor of a day's seconds, so that all hours and weekdays come.
  for (long second = -2'000'000'000; second < 4'000'000'000; second += 7'654'321) {
    const std::string text = FormatDate(At(second));
    INFO(text);
    REQUIRE(ParseDate(text) == At(second));
  }
}

TEST_CASE("http: a leap second is the first of the next minute", "[http]") {
  CHECK(ParseDate("Sat, 31 Dec 2016 23:59:60 GMT") == ParseDate("Sun, 01 Jan 2017 00:00:00 GMT"));
}

TEST_CASE("http: what is no date is not read as one", "[http]") {
  const char* const text =
      GENERATE("", "now", "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Nov 1994 08:49:37 GMT ",
               "Sun, 06 Nov 1994 08:49:37 UTC", "sun, 06 Nov 1994 08:49:37 GMT",
               "Mon, 06 Nov 1994 08:49:37 GMT", "Sun, 06 nov 1994 08:49:37 GMT",
               "Sun, 6 Nov 1994 08:49:37 GMT", "Sun,  6 Nov 1994 08:49:37 GMT",
               "Sun, 06 Nov 1994 24:49:37 GMT", "Sun, 06 Nov 1994 08:60:37 GMT",
               "Sun, 06 Nov 1994 08:49:61 GMT", "Sun, 06-Nov-1994 08:49:37 GMT",
               "Thu, 30 Feb 2000 12:34:56 GMT", "Thu, 00 Jan 1970 00:00:00 GMT",
               "Sun, 06 Nov -994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT",
               "Sun Nov  6 08:49:37 1994");
  INFO(text);
  CHECK_FALSE(ParseDate(text));
}

}  // namespace
}  // namespace apiserver::inline v0::http
