#include "text/percent.h"

#include <catch2/catch.hpp>

namespace apiserver::inline v0::text {
namespace {

TEST_CASE("text: percent-coding is undone, and refused when malformed", "[text]") {
  CHECK(PercentDecode("/a%2Fb%20c") == "/a/b c");
  CHECK(PercentDecode("%41") == "A");
  CHECK(PercentDecode("a+b") == "a+b");
  CHECK(PercentDecode("a+b", true) == "a b");
  CHECK(PercentDecode("%4") == std::nullopt);
  CHECK(PercentDecode("%") == std::nullopt);
  CHECK(PercentDecode("%g0") == std::nullopt);
  CHECK(PercentEncode("a/b c~\xc3\xa9") == "a%2Fb%20c~%C3%A9");
}

TEST_CASE("text: every byte survives percent-coding", "[text]") {
  std::string bytes;
  for (int c = 0; c < 256; ++c) bytes += static_cast<char>(c);
  CHECK(PercentDecode(PercentEncode(bytes)) == bytes);
  CHECK(PercentDecode(PercentEncode(bytes), /*plus_is_space=*/true) == bytes);
  CHECK(PercentEncode("AZaz09-._~") == "AZaz09-._~");
  std::string escaped;
  AppendPercentEscape('\xff', escaped);
  CHECK(escaped == "%FF");
}

}  // namespace
}  // namespace apiserver::inline v0::text
