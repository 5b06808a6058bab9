#include "cel/syntax/literal.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

using apiserver::cel::syntax::ParseDouble;
using apiserver::cel::syntax::ParseInt;
using apiserver::cel::syntax::ParseUint;
using apiserver::cel::syntax::Unquote;

namespace {

struct Literal {
  std::string_view literal;
  std::string_view value;
};

// Of TestUnescape in parser/unescape_test.go of cel-go, and more.
constexpr Literal kStringLiterals[] = {
    {"'hello'", "hello"},
    {"r'hello'", "hello"},
    {R"("")", ""},
    {"''''''", ""},
    {R"("\\\"")", "\\\""},
    {R"("\\")", "\\"},
    {"'''x''x'''", "x''x"},
    {R"("""x""x""")", "x\"\"x"},
    {R"("\303\277")", "\u00c3\u00bf"},
    {R"("\377")", "\u00ff"},
    {R"("\xFf\X41")", "\u00ffA"},
    {R"("\u263A\u263a")", "\u263a\u263a"},
    {R"("\U0001F600")", "\U0001F600"},
    {R"("\a\b\f\n\r\t\v\'\"\\\?\` Legal")", "\a\b\f\n\r\t\v'\"\\?` Legal"},
    {R"(r'\u263A\')", R"(\u263A\)"},
    {R"(R"""\x""")", R"(\x)"},
    {"'''a\r\nb\rc\n\r'''", "a\nb\nc\n\n"},
    {"r'''a\r\nb'''", "a\nb"},
    {"'\u4e16\\n'", "\u4e16\n"},
};

constexpr Literal kBytesLiterals[] = {
    {R"("abc")", "abc"},
    {"\"\u00ff\"", "\xc3\xbf"},
    {R"("\303\277")", "\xc3\xbf"},
    {R"("\377")", "\xff"},
    {R"("\xff")", "\xff"},
    {R"("\xc3\xbf")", "\xc3\xbf"},
    {R"('''"Kim\t"''')", "\"Kim\t\""},
    {R"(r"\xff")", R"(\xff)"},
};

}  // namespace

TEST_CASE("cel: strings are unquoted and unescaped", "[cel]") {
  for (const auto& [literal, value] : kStringLiterals) {
    CAPTURE(literal);
    const auto text = Unquote(literal, false);
    REQUIRE(text.ok());
    CHECK(*text == value);
  }
  CHECK(*Unquote(R"('\000a')", false) == std::string("\0a", 2));
}

TEST_CASE("cel: escapes in bytes are octets", "[cel]") {
  for (const auto& [literal, value] : kBytesLiterals) {
    CAPTURE(literal);
    const auto text = Unquote(literal, true);
    REQUIRE(text.ok());
    CHECK(*text == value);
  }
}

TEST_CASE("cel: escapes that name no character are refused", "[cel]") {
  CHECK(Unquote(R"("\uD800")", false).error().message() == "invalid unicode code point");
  CHECK(Unquote(R"("\udfff")", false).error().message() == "invalid unicode code point");
  CHECK(Unquote(R"("\U00110000")", false).error().message() == "invalid unicode code point");
  CHECK(Unquote(R"("\UFFFFFFFF")", false).error().message() == "invalid unicode code point");
  CHECK(Unquote(R"("\u00ff")", true).error().message() == "unable to unescape string");
  CHECK(Unquote(R"("\U000000ff")", true).error().message() == "unable to unescape string");
}

TEST_CASE("cel: integers are read in their whole range", "[cel]") {
  CHECK(ParseInt("0", true) == 0);
  CHECK(ParseInt("0010", false) == 10);
  CHECK(ParseInt("0xfF", true) == -255);
  CHECK(ParseInt("9223372036854775807", false) == std::numeric_limits<std::int64_t>::max());
  CHECK(ParseInt("9223372036854775808", true) == std::numeric_limits<std::int64_t>::min());
  CHECK(ParseInt("0x8000000000000000", true) == std::numeric_limits<std::int64_t>::min());
  CHECK_FALSE(ParseInt("9223372036854775808", false));
  CHECK_FALSE(ParseInt("9223372036854775809", true));
  CHECK_FALSE(ParseInt("99999999999999999999999999", false));
  CHECK(ParseUint("18446744073709551615u") == std::numeric_limits<std::uint64_t>::max());
  CHECK(ParseUint("0xFFFFFFFFFFFFFFFFU") == std::numeric_limits<std::uint64_t>::max());
  CHECK_FALSE(ParseUint("18446744073709551616u"));
}

TEST_CASE("cel: doubles that are too small become 0, those too large are refused", "[cel]") {
  CHECK(ParseDouble("1.5", false) == 1.5);
  CHECK(ParseDouble(".5e-1", true) == -0.05);
  CHECK(ParseDouble("1e3", false) == 1000);
  CHECK(ParseDouble("1.7976931348623157e308", false) == std::numeric_limits<double>::max());
  CHECK(ParseDouble("4.9e-324", false) == std::numeric_limits<double>::denorm_min());
  CHECK(ParseDouble("1e-400", false) == 0);
  CHECK(ParseDouble("0.0000001e-99999999999999999999", false) == 0);
  CHECK(ParseDouble("0.0e99999999999999999999", false) == 0);
  CHECK(std::signbit(ParseDouble("0.0", true).value()));
  CHECK(std::signbit(ParseDouble("1e-400", true).value()));
  CHECK_FALSE(ParseDouble("1e400", false));
  CHECK_FALSE(ParseDouble("1.7976931348623159e308", false));
  CHECK_FALSE(ParseDouble("0.001e99999999999999999999", true));
  const std::string zeros(400, '0');
  CHECK_FALSE(ParseDouble("1" + zeros + ".0", false));
  CHECK(ParseDouble("1" + zeros + ".0e-400", false) == 1);
  CHECK(ParseDouble("0." + zeros + "1", false) == 0);
}
