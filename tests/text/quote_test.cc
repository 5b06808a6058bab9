#include "text/quote.h"

#include <catch2/catch.hpp>

#include <vector>

namespace apiserver::inline v0::text {
namespace {

TEST_CASE("text: quoting follows Go's %q", "[text]") {
  CHECK(Quote("plain") == "\"plain\"");
  CHECK(Quote("a\"b\\c") == R"("a\"b\\c")");
  CHECK(Quote("\a\b\f\n\r\t\v") == R"("\a\b\f\n\r\t\v")");
  CHECK(Quote(std::string_view("\0\x1f\x7f", 3)) == R"("\x00\x1f\x7f")");
  CHECK(Quote("\xc3\xa9 \xe4\xb8\x96 \xf0\x9f\x98\x80") ==
        "\"\xc3\xa9 \xe4\xb8\x96 \xf0\x9f\x98\x80\"");
  CHECK(Quote("\xc2\xa0\xe2\x80\x8b\xf3\xa0\x80\x81") == R"("\u00a0\u200b\U000e0001")");
  CHECK(Quote("\xff\xc3") == R"("\xff\xc3")");
  CHECK(Quote("\xed\xa0\x80") == R"("\xed\xa0\x80")");
  CHECK(Quote("\xc0\xaf") == R"("\xc0\xaf")");
  CHECK(Quote("\xef\xbf\xbd") == "\"\xef\xbf\xbd\"");
}

TEST_CASE("text: a list of strings is quoted as Go's %q does", "[text]") {
  CHECK(QuoteAll({}) == "[]");
  CHECK(QuoteAll(std::vector<std::string>{"a"}) == R"(["a"])");
  CHECK(QuoteAll(std::vector<std::string>{"", "b\"", "\n"}) == R"(["" "b\"" "\n"])");
}

TEST_CASE("text: what can be printed is as in Go's unicode.IsPrint", "[text]") {
  for (const std::uint32_t code : {0x20U, 0x7eU, 0xa1U, 0xe9U, 0x4e16U, 0xfffdU, 0x1f600U}) {
    CAPTURE(code);
    CHECK(IsPrint(code));
  }
  for (const std::uint32_t code : {0U, 0x1fU, 0x7fU, 0xa0U, 0xadU, 0x200bU, 0xd800U, 0xe0001U}) {
    CAPTURE(code);
    CHECK_FALSE(IsPrint(code));
  }
}

}  // namespace
}  // namespace apiserver::inline v0::text
