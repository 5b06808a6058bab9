#include "text/base64.h"

#include <catch2/catch.hpp>

#include <utility>
#include <vector>

namespace apiserver::inline v0::text {
namespace {

using Pairs = std::vector<std::pair<std::string, std::string>>;

std::string Standard(std::string_view bytes) {
  std::string out;
  AppendBase64(bytes, out);
  return out;
}

std::string Url(std::string_view bytes) {
  std::string out;
  AppendBase64Url(bytes, out);
  return out;
}

// Where Go's decoder stops; -1: nowhere.
int StopsAt(std::string_view text) {
  std::size_t at = 0;
  return DecodeBase64(text, &at) ? -1 : static_cast<int>(at);
}

// The pairs of Go's src/encoding/base64/base64_test.go.
const Pairs kPairs = {{"\x14\xfb\x9c\x03\xd9\x7e", "FPucA9l+"},
                      {"\x14\xfb\x9c\x03\xd9", "FPucA9k="},
                      {"\x14\xfb\x9c\x03", "FPucAw=="},
                      {"", ""},
                      {"f", "Zg=="},
                      {"fo", "Zm8="},
                      {"foo", "Zm9v"},
                      {"foob", "Zm9vYg=="},
                      {"fooba", "Zm9vYmE="},
                      {"foobar", "Zm9vYmFy"},
                      {"sure.", "c3VyZS4="},
                      {"\xff\xfe\xfd", "//79"}};

TEST_CASE("text: base64 is written and read as Go does", "[text]") {
  for (const auto& [bytes, text] : kPairs) {
    CAPTURE(text);
    CHECK(Standard(bytes) == text);
    CHECK(DecodeBase64(text) == bytes);
    CHECK(StopsAt(text) == -1);
  }
}

TEST_CASE("text: base64 of every byte at every length is read back", "[text]") {
  std::string bytes;
  for (int i = 0; i < 300; ++i) {
    CHECK(DecodeBase64(Standard(bytes)) == bytes);
    CHECK(DecodeBase64Url(Url(bytes)) == bytes);
    CHECK(Standard(bytes).size() == (bytes.size() + 2) / 3 * 4);
    bytes += static_cast<char>(i * 7);
  }
}

// TestDecodeCorrupt and TestNewLineCharacters there.
TEST_CASE("text: what is no base64 is refused at the offset that Go names", "[text]") {
  CHECK(StopsAt("\n") == -1);
  CHECK(StopsAt("AAA=\n") == -1);
  CHECK(StopsAt("AAAA\n") == -1);
  CHECK(StopsAt("!!!!") == 0);
  CHECK(StopsAt("====") == 0);
  CHECK(StopsAt("x===") == 1);
  CHECK(StopsAt("=AAA") == 0);
  CHECK(StopsAt("A=AA") == 1);
  CHECK(StopsAt("AA=A") == 3);
  CHECK(StopsAt("AA==A") == 4);
  CHECK(StopsAt("AAA=AAAA") == 4);
  CHECK(StopsAt("AAAAA") == 4);
  CHECK(StopsAt("AAAAAA") == 4);
  CHECK(StopsAt("A=") == 1);
  CHECK(StopsAt("A==") == 1);
  CHECK(StopsAt("AA=") == 3);
  CHECK(StopsAt("AA==") == -1);
  CHECK(StopsAt("AAA=") == -1);
  CHECK(StopsAt("AAAA") == -1);
  CHECK(StopsAt("AAAAA=") == 5);
  CHECK(StopsAt("YWJjZA=====") == 8);
  for (const char* text :
       {"c3VyZQ==", "c3VyZQ==\r", "c3VyZQ==\n", "c3VyZQ==\r\n", "c3VyZ\r\nQ==", "c3V\ryZ\nQ==",
        "c3V\nyZ\rQ==", "c3VyZ\nQ==", "c3VyZQ\n==", "c3VyZQ=\n=", "c3VyZQ=\r\n\r\n="}) {
    CAPTURE(text);
    CHECK(DecodeBase64(text) == "sure");
  }
}

TEST_CASE("text: base64 is read into room that is as large as told", "[text]") {
  std::string room(Base64BytesMax(8), '!');
  CHECK(DecodeBase64To("Zm9vYg==", room.data(), nullptr) == 4);
  CHECK(room.substr(0, 4) == "foob");
  CHECK_FALSE(DecodeBase64To("Zm9vYg=", room.data(), nullptr));
}

TEST_CASE("text: base64url has one text for each sequence of bytes", "[text]") {
  for (const auto& [bytes, text] : Pairs{{"", ""},
                                         {"f", "Zg"},
                                         {"fo", "Zm8"},
                                         {"foo", "Zm9v"},
                                         {"\xff\xfe\xfd", "__79"},
                                         {std::string("\0", 1), "AA"}}) {
    CAPTURE(text);
    CHECK(Url(bytes) == text);
    CHECK(DecodeBase64Url(text) == bytes);
  }
  for (const char* text : {"Z", "Zg==", "Zh", "Zm9", "Zm 9", "Z+8_", "Z/8_", "Zg\n"}) {
    CAPTURE(text);
    CHECK_FALSE(DecodeBase64Url(text));
  }
}

TEST_CASE("text: loose base64url overlooks line breaks and idle bits", "[text]") {
  std::size_t at = 0;
  CHECK(DecodeLooseBase64Url("__\r79\n", &at) == "\xff\xfe\xfd");
  CHECK(DecodeLooseBase64Url("Zh", &at) == "f");
  CHECK_FALSE(DecodeLooseBase64Url("Zm9+", &at));
  CHECK(at == 3);
  CHECK_FALSE(DecodeLooseBase64Url("Zm9vY", &at));
  CHECK(at == 4);
}

}  // namespace
}  // namespace apiserver::inline v0::text
