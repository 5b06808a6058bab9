#include "apiserver/codec/json.h"

#include <catch2/catch.hpp>
#include <functional>
#include <limits>

#include "codec/json_write.h"
#include "codec/text.h"

namespace apiserver::inline v0::codec {
namespace {

using runtime::Arena;
using runtime::Value;
using testing::Again;
using testing::Json;

struct Row {
  std::string text;
  std::string expected;
};

TEST_CASE("codec: JSON is indented the same, whole or in pieces", "[codec]") {
  const std::string compact =
      R"({"a":[],"b":{},"c":[1,{"d":"x, y: \\"},"\"}"],"e":"\\\"[","f":[[2],[3,4]]})";
  const std::string whole = IndentJson(compact);
  CHECK(whole.find("\n  \"c\": [\n    1,\n") != std::string::npos);
  for (std::size_t cut = 0; cut <= compact.size(); ++cut) {
    JsonIndenter indenter;
    std::string out;
    indenter.Append(std::string_view(compact).substr(0, cut), out);
    indenter.Append(std::string_view(compact).substr(cut), out);
    REQUIRE(out == whole);
  }
  // A round trip: what is indented is the same document.
  runtime::Arena arena;
  std::string again;
  AppendJson(ParseJson(whole, arena).value(), again);
  CHECK(again == compact);
}

TEST_CASE("codec: JSON that is none is refused in Go's words", "[codec]") {
  // Printed by encoding/json of Go 1.26.
  const Row rows[] = {
      {"", "unexpected end of JSON input"},
      {"  ", "unexpected end of JSON input"},
      {"{", "unexpected end of JSON input"},
      {"[1,2", "unexpected end of JSON input"},
      {"\"abc", "unexpected end of JSON input"},
      {"}", "invalid character '}' looking for beginning of value"},
      {"[1,]", "invalid character ']' looking for beginning of value"},
      {"{\"a\":1,}", "invalid character '}' looking for beginning of object key string"},
      {"{a:1}", "invalid character 'a' looking for beginning of object key string"},
      {"{\"a\" 1}", "invalid character '1' after object key"},
      {"{\"a\":1 \"b\":2}", "invalid character '\"' after object key:value pair"},
      {"[1 2]", "invalid character '2' after array element"},
      {"1 2", "invalid character '2' after top-level value"},
      {"{}x", "invalid character 'x' after top-level value"},
      {"truex", "invalid character 'x' after top-level value"},
      {"nul", "invalid character ' ' in literal null (expecting 'l')"},
      {"tru3", "invalid character '3' in literal true (expecting 'e')"},
      {"\"\\x\"", "invalid character 'x' in string escape code"},
      {"\"\\u12g4\"", "invalid character 'g' in \\u hexadecimal character escape"},
      {"\"\t\"", "invalid character '\\t' in string literal"},
      {"\"\x01\"", "invalid character '\\x01' in string literal"},
      {"\"a\nb\"", "invalid character '\\n' in string literal"},
      {"-", "invalid character ' ' in numeric literal"},
      {"-a", "invalid character 'a' in numeric literal"},
      {"01", "invalid character '1' after top-level value"},
      {"1.a", "invalid character 'a' after decimal point in numeric literal"},
      {"1e+x", "invalid character 'x' in exponent of numeric literal"},
      {"'a'", "invalid character '\\'' looking for beginning of value"},
      {"\\", "invalid character '\\\\' looking for beginning of value"},
      {std::string(1, '\0'), "invalid character '\\x00' looking for beginning of value"},
      {"{}" + std::string(1, '\0'), "invalid character '\\x00' after top-level value"},
      {"\xC3\xA9", "invalid character 'Ã' looking for beginning of value"},
      {"\xEF\xBB\xBF{}", "invalid character 'ï' looking for beginning of value"},
      {"1e400", "json: cannot unmarshal number 1e400 into Go value of type float64"},
      {"[-1e400]", "json: cannot unmarshal number -1e400 into Go value of type float64"},
  };
  for (const Row& row : rows) {
    INFO(row.text);
    Arena arena;
    const Result<Value> value = ParseJson(row.text, arena);
    REQUIRE_FALSE(value.ok());
    CHECK(value.status().reason() == Reason::kBadRequest);
    CHECK(std::string(value.status().message()) == row.expected);
  }
}

TEST_CASE("codec: JSON read and written again is what Go writes", "[codec]") {
  const Row rows[] = {
      {" { \"b\" : [ 1 , true , null ] ,\n \"a\" : { } } ", "{\"b\":[1,true,null],\"a\":{}}"},
      {"\"<>&\"", "\"\\u003c\\u003e\\u0026\""},
      {"\"\xE2\x80\xA8\xE2\x80\xA9\"", "\"\\u2028\\u2029\""},
      {"\"\\u0041\\u00e9\\ud83d\\ude00\"", "\"A\xC3\xA9\xF0\x9F\x98\x80\""},
      {"\"\\b\\f\\n\\r\\t\\/\\\\\\\"\"", "\"\\b\\f\\n\\r\\t/\\\\\\\"\""},
      {"\"\\u0001\x7F\"", "\"\\u0001\x7F\""},
      {"\"\\u0000\"", "\"\\u0000\""},
      {"\"\\ud800\"", "\"\xEF\xBF\xBD\""},
      {"\"\\ude00\"", "\"\xEF\xBF\xBD\""},
      {"\"\\udc00x\\ud800\\u0041\"",
       "\"\xEF\xBF\xBDx\xEF\xBF\xBD"
       "A\""},
      {"\"\xFF\xC3(\"", "\"\xEF\xBF\xBD\xEF\xBF\xBD(\""},
      {"\"\xED\xA0\x80\"", "\"\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\""},
      {"[]", "[]"},
      {"{}", "{}"},
      {"[[],{},[{}]]", "[[],{},[{}]]"},
      {"\"\"", "\"\""},
  };
  for (const Row& row : rows) {
    INFO(row.text);
    CHECK(Again(row.text) == row.expected);
  }
}

TEST_CASE("codec: numbers are int64 when they can be, else double as Go prints them", "[codec]") {
  const Row rows[] = {
      {"0", "0"},
      {"-0", "0"},
      {"-1", "-1"},
      {"9223372036854775807", "9223372036854775807"},
      {"-9223372036854775808", "-9223372036854775808"},
      {"9223372036854775808", "9223372036854776000"},
      {"18446744073709551615", "18446744073709552000"},
      {"123456789012345680000", "123456789012345680000"},
      {"1e20", "100000000000000000000"},
      {"1e21", "1e+21"},
      {"1.5", "1.5"},
      {"1.0", "1"},
      {"100000.50", "100000.5"},
      {"0.000001", "0.000001"},
      {"0.0000001", "1e-7"},
      {"1.25e-9", "1.25e-9"},
      {"1E5", "100000"},
      {"-2.5e+3", "-2500"},
      {"5e-324", "5e-324"},
      {"1.7976931348623157e308", "1.7976931348623157e+308"},
      {"1e-400", "0"},
      {"1.2345678901234567890123456789e29", "1.2345678901234568e+29"},
  };
  for (const Row& row : rows) {
    INFO(row.text);
    CHECK(Again(row.text) == row.expected);
  }
  CHECK(Json(Value::Double(-0.0)) == "-0");
  CHECK(Json(Value::Double(std::numeric_limits<double>::infinity())) == "null");
}

TEST_CASE("codec: a whole number stays an integer, one with a fraction a double", "[codec]") {
  Arena arena;
  CHECK(ParseJson("3", arena)->type() == Value::Type::kInt);
  CHECK(ParseJson("3.0", arena)->type() == Value::Type::kDouble);
  CHECK(ParseJson("3e0", arena)->type() == Value::Type::kDouble);
}

TEST_CASE("codec: text without escapes is borrowed from the input", "[codec]") {
  const std::string text = R"({"key":"value","other":"es\ncaped"})";
  Arena arena;

  const Value root = ParseJson(text, arena).value();

  const auto within = [&](std::string_view part) {
    return part.data() >= text.data() && part.data() < text.data() + text.size();
  };
  CHECK(within(root["key"].AsString()));
  CHECK(within(root.members()[0].key));
  CHECK_FALSE(within(root["other"].AsString()));
  CHECK(root["other"].AsString() == "es\ncaped");
}

TEST_CASE("codec: of duplicate keys the last wins and each path is told once", "[codec]") {
  const std::string text =
      R"({"a":1,"spec":{"x":1,"l":[{"y":1,"y":2,"y":3}],"x":2},"a":{"b":1,"b":2},"\u0061":4})";
  Arena arena;
  std::vector<std::string> duplicates;

  const Value root = ParseJson(text, arena, &duplicates).value();

  CHECK(Json(root) == R"({"a":4,"spec":{"x":2,"l":[{"y":3}]}})");
  CHECK(duplicates == std::vector<std::string>{"spec.l[0].y", "spec.x", "a", "a.b"});
}

TEST_CASE("codec: duplicates are found among keys chosen to fall on each other", "[codec]") {
  std::string members;
  std::string last;
  for (int i = 0, found = 0; found < 20; ++i) {
    const std::string key = "k" + std::to_string(i);
    if (std::hash<std::string_view>()(key) % 64 != 7) continue;
    ++found;
    last = "\"" + key + "\":1";
    members = last + "," + members;
  }
  Arena arena;
  std::vector<std::string> duplicates;
  members.pop_back();
  CHECK(ParseJson("{" + members + "}", arena, &duplicates).value().size() == 20);
  CHECK(duplicates.empty());
  const std::string twice = "{" + members + "," + last + "}";
  CHECK(ParseJson(twice, arena, &duplicates).value().size() == 20);
  CHECK(duplicates.size() == 1);
}

TEST_CASE("codec: duplicates are found in large maps", "[codec]") {
  std::string text = "{";
  for (int i = 0; i < 5000; ++i)
    text += "\"k" + std::to_string(i) + "\":" + std::to_string(i) + ",";
  text += "\"k77\":\"last\"}";
  Arena arena;
  std::vector<std::string> duplicates;

  const Value root = ParseJson(text, arena, &duplicates).value();

  CHECK(root.size() == 5000);
  CHECK(root["k77"].AsString() == "last");
  CHECK(duplicates == std::vector<std::string>{"k77"});
}

TEST_CASE("codec: JSON nested a million deep costs an error, not the stack", "[codec]") {
  for (const std::string_view open : {"[", "{\"a\":"}) {
    std::string text;
    for (int i = 0; i < 1'000'000; ++i) text += open;
    CHECK(Again(text) == "exceeded max depth");
  }
  const std::string ten = std::string(10'000, '[') + std::string(10'000, ']');
  CHECK(Again(ten) == ten);
  CHECK(Again("[" + ten + "]") == "exceeded max depth");
}

TEST_CASE("codec: limits on bytes and memory hold", "[codec]") {
  Arena arena;
  CHECK(ParseJson("[1,2,3]", arena, nullptr, {.bytes_max = 6}).status().message() ==
        "the document is too large");
  std::string text = "[0";
  for (int i = 0; i < 100'000; ++i) text += ",0";
  text += "]";
  CHECK(ParseJson(text, arena).ok());
  CHECK(ParseJson(text, arena, nullptr, {.arena_factor_max = 1}).status().message() ==
        "the document needs too much memory");
}

TEST_CASE("codec: bytes become base64 and raw JSON is compacted and escaped", "[codec]") {
  CHECK(Json(Value::Bytes("")) == "\"\"");
  CHECK(Json(Value::Bytes("a")) == "\"YQ==\"");
  CHECK(Json(Value::Bytes("ab")) == "\"YWI=\"");
  CHECK(Json(Value::Bytes("abc\xFF")) == "\"YWJj/w==\"");
  CHECK(Json(Value::Raw(" { \"a b\" : [ 1, \"<\\\" \" ] }\n")) == "{\"a b\":[1,\"\\u003c\\\" \"]}");
  CHECK(Json(Value::Raw("")) == "null");
}

TEST_CASE("codec: raw JSON is written as a parsed value is, wherever its special bytes are",
          "[codec]") {
  for (std::size_t size = 0; size < 40; ++size) {
    for (std::size_t at = 0; at <= size; ++at) {
      for (const char* const special :
           {"", "<", "&", ">", " ", "\\\"", "\xE2\x80\xA8", "\xE2\x82\xAC"}) {
        std::string text = "{\"f:" + std::string(at, 'a') + special + std::string(size - at, 'b');
        text += "\":{}}";
        INFO(text);
        Arena arena;
        CHECK(Json(Value::Raw(text)) == Json(ParseJson(text, arena).value()));
      }
    }
  }
  for (std::size_t at = 0; at < 40; ++at) {
    const std::string before(at, '1');
    for (const char space : {' ', '\t', '\n', '\r'}) {
      CHECK(Json(Value::Raw("[" + before + space + "]")) == "[" + before + "]");
    }
  }
}

TEST_CASE("codec: maps can be written with their keys sorted", "[codec]") {
  Arena arena;
  const Value root = ParseJson(R"({"b":{"z":1,"a":[{"y":1,"x":2}]},"a":0})", arena).value();
  std::string out;

  AppendSortedJson(root, out);

  CHECK(out == R"({"a":0,"b":{"a":[{"x":2,"y":1}],"z":1}})");
}

TEST_CASE("codec: pretty JSON has two spaces and no newline at its end", "[codec]") {
  Arena arena;
  const Value root = ParseJson(R"({"a":[1,{"b":"{,:}\""}],"c":{},"d":[],"e":[[]]})", arena).value();
  std::string out;

  AppendPrettyJson(root, out);

  CHECK(out ==
        "{\n  \"a\": [\n    1,\n    {\n      \"b\": \"{,:}\\\"\"\n    }\n  ],\n"
        "  \"c\": {},\n  \"d\": [],\n  \"e\": [\n    []\n  ]\n}");
}

// The writer looks at sixteen or eight bytes at a time, and at what is left.
TEST_CASE("codec: what must be escaped is found wherever it stands", "[codec]") {
  const Row rows[] = {{"\"", "\\\""},       {"\\", "\\\\"},      {"<", "\\u003c"},
                      {">", "\\u003e"},     {"&", "\\u0026"},    {"\n", "\\n"},
                      {"\x1f", "\\u001f"},  {"\xff", "\\ufffd"}, {"\u2028", "\\u2028"},
                      {"\u00e9", "\u00e9"}, {"\x7f", "\x7f"},    {"/", "/"}};
  const std::string plain = " !#$%'()*+,-.:;=?@AZ[]^_`az{|}~0123456789";
  for (const Row& row : rows) {
    for (std::size_t size = 0; size < plain.size(); ++size) {
      for (std::size_t at = 0; at <= size; ++at) {
        const std::string before = plain.substr(0, at);
        const std::string after = plain.substr(at, size - at);
        std::string out = "x";
        AppendJsonString(before + row.text + after, out);
        REQUIRE(out == "x\"" + before + row.expected + after + "\"");
      }
      std::string out;
      AppendJsonString(plain.substr(0, size), out);
      REQUIRE(out == "\"" + plain.substr(0, size) + "\"");
    }
  }
}

TEST_CASE("codec: text longer than the writer's buffer arrives whole", "[codec]") {
  const std::string text(100'000, 'x');
  CHECK(Json(Value::String(text)) == "\"" + text + "\"");
  const std::string escaped(5'000, '\n');
  CHECK(Json(Value::String(escaped)).size() == 2 + 2 * escaped.size());
}

}  // namespace
}  // namespace apiserver::inline v0::codec
