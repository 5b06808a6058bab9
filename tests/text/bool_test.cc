#include "text/bool.h"

#include <catch2/catch.hpp>

using apiserver::text::ParseBool;

// TestParseBool of Go's strconv.
TEST_CASE("text: a boolean has the words of strconv.ParseBool", "[text]") {
  for (const char* yes : {"1", "t", "T", "true", "TRUE", "True"}) CHECK(ParseBool(yes) == true);
  for (const char* no : {"0", "f", "F", "false", "FALSE", "False"}) CHECK(ParseBool(no) == false);
  for (const char* other : {"", "asdf", "tRUE", "yes", " true"}) {
    CHECK_FALSE(ParseBool(other).has_value());
  }
}
