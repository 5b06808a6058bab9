#include "text/hex.h"

#include <catch2/catch.hpp>

#include <array>

namespace apiserver::inline v0::text {
namespace {

TEST_CASE("text: bytes are written as two hexadecimal digits each", "[text]") {
  std::string out = "x";
  AppendHex(std::string_view("\x00\x0f\xa5\xff", 4), out);
  CHECK(out == "x000fa5ff");
  constexpr std::array<unsigned char, 3> kBytes = {0x1e, 0x80, 0xcd};
  AppendHex(kBytes, out);
  CHECK(out == "x000fa5ff1e80cd");
  AppendUpperHex(kBytes, out);
  CHECK(out == "x000fa5ff1e80cd1E80CD");
  AppendHex("", out);
  CHECK(out.size() == 21);
}

TEST_CASE("text: a hexadecimal digit of either case has its value", "[text]") {
  std::string digits;
  for (int c = -128; c < 128; ++c) {
    if (IsHexDigit(static_cast<char>(c))) digits += static_cast<char>(c);
  }
  CHECK(digits == "0123456789ABCDEFabcdef");
  CHECK(HexValue('0') == 0);
  CHECK(HexValue('9') == 9);
  CHECK(HexValue('a') == 10);
  CHECK(HexValue('F') == 15);
  CHECK(HexValue('g') == -1);
  CHECK(HexDigit(0x1b) == 'b');
  CHECK(UpperHexDigit(0x1b) == 'B');
}

}  // namespace
}  // namespace apiserver::inline v0::text
