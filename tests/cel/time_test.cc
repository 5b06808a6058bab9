#include "cel/evaluated.h"

#include <catch2/catch.hpp>

using cel_test::EvaluateAll;

TEST_CASE("cel: the parts of a timestamp are those of UTC", "[cel]") {
  EvaluateAll({
      {"timestamp('2024-02-29T12:34:56.789Z').getFullYear()", "2024"},
      {"timestamp('2024-02-29T12:34:56.789Z').getMonth()", "1"},
      {"timestamp('2024-02-29T12:34:56.789Z').getDayOfYear()", "59"},
      {"timestamp('2024-02-29T12:34:56.789Z').getDayOfMonth()", "28"},
      {"timestamp('2024-02-29T12:34:56.789Z').getDate()", "29"},
      {"timestamp('2024-02-29T12:34:56.789Z').getDayOfWeek()", "4"},
      {"timestamp('2024-02-29T12:34:56.789Z').getHours()", "12"},
      {"timestamp('2024-02-29T12:34:56.789Z').getMinutes()", "34"},
      {"timestamp('2024-02-29T12:34:56.789Z').getSeconds()", "56"},
      {"timestamp('2024-02-29T12:34:56.789Z').getMilliseconds()", "789"},
      {"timestamp('2050-12-31T22:00:00-05:00').getFullYear()", "2051"},
      {"timestamp('1969-12-31T23:59:59.5Z').getSeconds()", "59"},
      {"timestamp('1969-12-31T23:59:59.5Z').getMilliseconds()", "500"},
      {"timestamp('0001-01-01T00:00:00Z').getDayOfWeek()", "1"},
      {"dyn('x').getHours()", "error: no such overload: getHours(string)"},
  });
}

TEST_CASE("cel: the parts of a timestamp are those of an offset", "[cel]") {
  EvaluateAll({
      {"timestamp('2023-01-01T05:30:00Z').getHours('+02:00')", "7"},
      {"timestamp('2023-01-01T05:30:00Z').getFullYear('-08:00')", "2022"},
      {"timestamp('2023-01-01T05:30:00Z').getMinutes('-08:45')", "45"},
      {"timestamp('2023-01-01T00:00:00Z').getMinutes('-00:30')", "30"},
      {"timestamp('2023-01-01T00:00:00Z').getHours('1:2')", "1"},
      {"timestamp('2023-01-01T00:00:00Z').getDate('99:99')", "5"},
      {"timestamp('2023-01-01T00:00:00Z').getHours('99999999999:00')", "9"},
      {"timestamp('0001-01-01T00:00:00Z').getFullYear('-10:30')", "0"},
      {"timestamp('2023-01-01T00:00:00Z').getHours('a:b')",
       "error: strconv.Atoi: parsing \"a\": invalid syntax"},
      {"timestamp('2023-01-01T00:00:00Z').getHours(':')",
       "error: strconv.Atoi: parsing \"\": invalid syntax"},
      {"timestamp('2023-01-01T00:00:00Z').getHours('1:')",
       "error: strconv.Atoi: parsing \"\": invalid syntax"},
      {"timestamp('2023-01-01T00:00:00Z').getHours('+-1:00')",
       "error: strconv.Atoi: parsing \"+-1\": invalid syntax"},
      {"timestamp('2023-01-01T00:00:00Z').getHours('9223372036854775808:00')",
       "error: strconv.Atoi: parsing \"9223372036854775808\": value out of range"},
      {"timestamp('2023-01-01T00:00:00Z').getHours(dyn('+02:00'))", "2"},
  });
}

TEST_CASE("cel: the parts of a timestamp are those of a time zone", "[cel]") {
  EvaluateAll({
      {"timestamp('2023-07-14T10:30:45Z').getHours('America/Los_Angeles')", "3"},
      {"timestamp('2023-03-12T09:59:59Z').getHours('America/Los_Angeles')", "1"},
      {"timestamp('2023-03-12T10:00:00Z').getHours('America/Los_Angeles')", "3"},
      {"timestamp('2023-01-01T05:30:00Z').getDayOfYear('US/Central')", "364"},
      {"timestamp('2023-01-01T00:00:00Z').getMinutes('Asia/Kolkata')", "30"},
      {"timestamp('2100-07-01T00:00:00Z').getHours('Europe/Berlin')", "2"},
      {"timestamp('2100-01-01T00:00:00Z').getHours('Australia/Sydney')", "11"},
      {"timestamp('1883-11-18T17:00:00Z').getMinutes('America/New_York')", "0"},
      {"timestamp('2023-01-01T00:00:00Z').getHours('UTC')", "0"},
      {"timestamp('2023-01-01T00:00:00Z').getHours('')", "0"},
      {"timestamp('2023-07-14T10:30:45Z').getHours(dyn('Europe/Berlin'))", "12"},
      {"timestamp('2023-01-01T00:00:00Z').getHours('Mars/Phobos')",
       "error: unknown time zone Mars/Phobos"},
      {"timestamp('2023-01-01T00:00:00Z').getHours(dyn('Mars/Phobos'))",
       "error: unknown time zone Mars/Phobos"},
      {"timestamp('2023-01-01T00:00:00Z').getHours('../etc')",
       "error: time: invalid location name"},
      {"timestamp('2023-01-01T00:00:00Z').getHours('/etc/localtime')",
       "error: time: invalid location name"},
      {"timestamp('2023-01-01T00:00:00Z').getHours('Europe')", "error: is a directory"},
      {"timestamp('2023-01-01T00:00:00Z').getHours('Europe/Berlin/x')", "error: not a directory"},
      {"timestamp('2023-01-01T00:00:00Z').getHours(dyn(1))",
       "error: no such overload: getHours(google.protobuf.Timestamp, int)"},
      {"dyn(duration('1h')).getHours('UTC')",
       "error: no such overload: getHours(google.protobuf.Duration, string)"},
  });
}

TEST_CASE("cel: the parts of a duration are the whole of it", "[cel]") {
  EvaluateAll({
      {"duration('90m').getHours()", "1"},
      {"duration('-90m').getHours()", "-1"},
      {"duration('90m').getMinutes()", "90"},
      {"duration('3723.456s').getSeconds()", "3723"},
      {"duration('1h').getMilliseconds()", "3600000"},
      {"duration('-1.5ms').getMilliseconds()", "-1"},
      {"duration('2562047h47m16.854775807s').getHours()", "2562047"},
      {"duration('9223372036.854775807s').getSeconds()", "9223372036"},
      {"duration('999999999ns').getSeconds()", "0"},
      {"duration('1h').getFullYear()",
       "refused: compilation failed: ERROR: <input>:1:27: found no matching overload for "
       "'getFullYear' applied to 'duration.()'"},
  });
}
