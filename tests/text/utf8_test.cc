#include "text/utf8.h"

#include <catch2/catch.hpp>

#include <vector>

#include "text/scan.h"

namespace apiserver::inline v0::text {
namespace {

// The texts of Go's src/unicode/utf8/utf8_test.go, TestValid and the neighbours of what it refuses.
const std::vector<std::string> kValid = {"",
                                         "a",
                                         "abc",
                                         "\xd0\x96",
                                         "\xd0\x96\xd0\x96",
                                         "\xc2\x80",
                                         "\xdf\xbf",
                                         "\xe0\xa0\x80",
                                         "\xed\x9f\xbf",
                                         "\xee\x80\x80",
                                         "\xef\xbf\xbd",
                                         "\xef\xbf\xbf",
                                         "\xf0\x90\x80\x80",
                                         "\xf4\x8f\xbf\xbf"};
const std::vector<std::string> kInvalid = {"\x80",
                                           "\xbf",
                                           "\xc0\x80",
                                           "\xc1\xbf",
                                           "\xc2",
                                           "\xe0\x9f\xbf",
                                           "\xed\xa0\x80",
                                           "\xed\xbf\xbf",
                                           "\xef\xbf",
                                           "\xf0\x8f\xbf\xbf",
                                           "\xf4\x90\x80\x80",
                                           "\xf5\x80\x80\x80",
                                           "\xf0\x90\x80",
                                           "\xfa",
                                           "\xfb",
                                           "\xfc",
                                           "\xff"};

TEST_CASE("text: UTF-8 is what Go takes for it, wherever it stands", "[text]") {
  for (std::size_t before = 0; before < 20; ++before) {
    const std::string ascii(before, 'x');
    for (const std::string& text : kValid) {
      CHECK(ValidUtf8(ascii + text));
      CHECK(ValidUtf8(ascii + text + ascii));
      CHECK(ReplaceInvalidUtf8(ascii + text) == ascii + text);
    }
    for (const std::string& text : kInvalid) {
      CHECK_FALSE(ValidUtf8(ascii + text));
      CHECK_FALSE(ValidUtf8(ascii + text + ascii));
    }
  }
}

TEST_CASE("text: each byte that begins no character is replaced by one", "[text]") {
  CHECK(ReplaceInvalidUtf8("a\xff\xc3\xa9\xe4\xb8") ==
        "a\xef\xbf\xbd\xc3\xa9\xef\xbf\xbd\xef\xbf\xbd");
  CHECK(ReplaceInvalidUtf8("\xed\xa0\x80") == "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
}

TEST_CASE("text: every rune is read as it was written", "[text]") {
  for (std::uint32_t code = 0; code <= 0x10FFFF; code += code < 0x3000 ? 1 : 97) {
    if (code >= 0xD800 && code <= 0xDFFF) continue;
    std::string text;
    AppendRune(code, text);
    const Rune rune = FirstRune(text + "x");
    if (rune.code != code || rune.text.size() != text.size()) CHECK(rune.code == code);
  }
  CHECK(FirstRune("\xc3\xa9!").code == 0xe9);
  CHECK(FirstRune("\xf0\x9f\x98\x80").code == 0x1f600);
  CHECK(FirstRune("\xf0\x9f\x98").code == kReplacementRune);
  CHECK(FirstRune("\xf0\x9f\x98").text == "\xf0");
}

TEST_CASE("text: a scan of nothing, which may be null, ends at once", "[text]") {
  char out[sizeof(scan::Block)];
  CHECK(PlainPrefix({}) == 0);
  CHECK(UnescapedPrefix({}) == 0);
  CHECK(AsciiPrefix({}) == 0);
  CHECK(CopyUnescaped({}, out) == 0);
}

TEST_CASE("text: a scan stops at the first byte that is not plain", "[text]") {
  for (std::size_t before = 0; before < 150; ++before) {
    const std::string plain(before, 'x');
    for (const char c : {'"', '\\', '\n', '\x1f'}) {
      CHECK(PlainPrefix(plain + c + "y") == before);
      CHECK(UnescapedPrefix(plain + c + "y") == before);
    }
    for (const char c : {'<', '>', '&', '\xc3'}) {
      CHECK(PlainPrefix(plain + c) == before + 1);
      CHECK(UnescapedPrefix(plain + c + plain) == before);
    }
    for (const char c : {'\0', '\x7f', '\x80', '\xff', ' '}) {
      const bool control = c == '\0';
      const bool ascii = c == '\0' || c == '\x7f' || c == ' ';
      CHECK(PlainPrefix(plain + c + plain) == (control ? before : 2 * before + 1));
      CHECK(AsciiPrefix(plain + c + plain) == (ascii ? 2 * before + 1 : before));
    }
    CHECK(AsciiPrefix(plain + "<\x80") == before + 1);
    CHECK(PlainPrefix(plain) == before);
    CHECK(UnescapedPrefix(plain) == before);
    std::string copy(before + 1 + sizeof(scan::Block), '\0');
    CHECK(CopyUnescaped(plain + "&", copy.data()) == before);
    CHECK(copy.substr(0, before) == plain);
  }
}

}  // namespace
}  // namespace apiserver::inline v0::text
