#include "text/json_string.h"

#include <catch2/catch.hpp>

#include <utility>
#include <vector>

#include "text/json_sink.h"
#include "text/scan.h"

namespace apiserver::inline v0::text {
namespace {

std::string Json(std::string_view text) {
  std::string out;
  AppendJsonString(text, out);
  return out;
}

TEST_CASE("text: JSON's escapes are written as Go writes them, and all of them read", "[text]") {
  CHECK(EscapeJson("a\"\\\b\f\n\r\t\x1f<>&/é") == R"(a\"\\\b\f\n\r\t\u001f\u003c\u003e\u0026/é)");
  CHECK(UnescapeJson(R"(a\"\\\b\f\n\r\t\/\u00e9\u20AC\ud83d\ude00\ud800x)") ==
        "a\"\\\b\f\n\r\t/é€😀\uFFFDx");
}

// encodeStringTests of Go's src/encoding/json/encode_test.go, and what HTML and JavaScript need.
TEST_CASE("text: a string of JSON is what Go's encoding/json writes", "[text]") {
  const std::vector<std::pair<std::string, std::string>> rows = {
      {std::string("\x00", 1), R"("\u0000")"},
      {"\x01", R"("\u0001")"},
      {"\x07", R"("\u0007")"},
      {"\x08", R"("\b")"},
      {"\x09", R"("\t")"},
      {"\x0a", R"("\n")"},
      {"\x0b", R"("\u000b")"},
      {"\x0c", R"("\f")"},
      {"\x0d", R"("\r")"},
      {"\x0e", R"("\u000e")"},
      {"\x1f", R"("\u001f")"},
      {"\x7f", "\"\x7f\""},
      {"<b>&", R"("\u003cb\u003e\u0026")"},
      {"\xe2\x80\xa8\xe2\x80\xa9\xe2\x80\xaa", "\"\\u2028\\u2029\xe2\x80\xaa\""},
      {"a\xff\xed\xa0\x80z", R"("a\ufffd\ufffd\ufffd\ufffdz")"},
      {"\xc3\xa9\xf0\x9f\x98\x80", "\"\xc3\xa9\xf0\x9f\x98\x80\""},
      {"", R"("")"}};
  for (const auto& [text, json] : rows) {
    CAPTURE(json);
    CHECK(Json(text) == json);
    CHECK(EscapeJson(text) == json.substr(1, json.size() - 2));
  }
}

TEST_CASE("text: what must be escaped is found at every place of a long string", "[text]") {
  for (const std::size_t before :
       {0, 1, 7, 8, 15, 16, 17, 31, 1007, 1008, 1024, 4095, 4096, 5000}) {
    const std::string plain(before, 'x');
    CHECK(Json(plain) == '"' + plain + '"');
    CHECK(Json(plain + "\"\n" + plain) == '"' + plain + "\\\"\\n" + plain + '"');
  }
}

// Texts of fewer bytes than a block are put together from loads that overlap.
TEST_CASE("text: a short string keeps its bytes, and each one is looked at", "[text]") {
  const std::string all = "abcdefghijklmnopqrstuvwxyz";
  for (std::size_t size = 0; size <= all.size(); ++size) {
    const std::string plain = all.substr(0, size);
    std::string out;
    JsonSink sink(out);
    PutJsonString(plain, sink);
    sink.Flush();
    CHECK(out == '"' + plain + '"');
    CHECK(UnescapedPrefix(plain) == size);
    for (std::size_t at = 0; at < size; ++at) {
      std::string special = plain;
      special[at] = '<';
      CHECK(UnescapedPrefix(special) == at);
    }
  }
}

TEST_CASE("text: a sink gives its string all that was put, in order", "[text]") {
  std::string out = "[";
  JsonSink sink(out);
  PutJsonString("a", sink);
  sink.Put(',');
  PutJsonString(std::string(5000, 'b') + "<", sink);
  sink.Put(std::string(3000, 'c'));
  sink.Put("]");
  sink.Flush();
  CHECK(out == "[\"a\",\"" + std::string(5000, 'b') + "\\u003c\"" + std::string(3000, 'c') + "]");
}

}  // namespace
}  // namespace apiserver::inline v0::text
