#include "text/trim.h"

#include <catch2/catch.hpp>
#include <string_view>

using apiserver::text::TrimSpace;

// strings_test.go TestTrimSpace, trimSpaceTests
TEST_CASE("text: white space at both ends goes as with strings.TrimSpace", "[text]") {
  CHECK(TrimSpace("") == "");
  CHECK(TrimSpace("abc") == "abc");
  CHECK(TrimSpace(" \t\v\r\f\n\u0085\u00a0\u2000\u3000abc \t\v\r\f\n\u0085\u00a0\u2000\u3000") ==
        "abc");
  CHECK(TrimSpace(" ") == "");
  CHECK(TrimSpace("\u3000 ") == "");
  CHECK(TrimSpace(" \u3000") == "");
  CHECK(TrimSpace(" \t\r\n x\t\t\r\r\ny\n ") == "x\t\t\r\r\ny");
  CHECK(TrimSpace("1 \t\r\n2") == "1 \t\r\n2");
  CHECK(TrimSpace(" x\x80") == "x\x80");
  CHECK(TrimSpace(" x\xc0") == "x\xc0");
  CHECK(TrimSpace("x \xc0\xc0 ") == "x \xc0\xc0");
  CHECK(TrimSpace("x \xc0") == "x \xc0");
  CHECK(TrimSpace("x \xc0 ") == "x \xc0");
  CHECK(TrimSpace("x \u200b\u2060") == "x \u200b\u2060");
  CHECK(TrimSpace("x ☺\xc0\xc0 ") == "x ☺\xc0\xc0");
  CHECK(TrimSpace("x ☺ ") == "x ☺");
}
