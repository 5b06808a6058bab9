#include "apiserver/codec/yaml.h"

#include <catch2/catch.hpp>

#include "codec/text.h"

namespace apiserver::inline v0::codec {
namespace {

using runtime::Arena;
using runtime::Value;
using testing::Json;

struct YamlRow {
  std::string text;
  std::string expected;
};

std::string FromYaml(std::string_view text, std::vector<std::string>* duplicates = nullptr) {
  Arena arena;
  const Result<Value> value = ParseYaml(text, arena, duplicates);
  return value.ok() ? Json(*value) : std::string(value.status().message());
}

std::string ToYaml(std::string_view json) {
  Arena arena;
  std::string out;
  AppendYaml(ParseJson(json, arena).value(), out);
  return out;
}

TEST_CASE("codec: YAML scalars mean what they mean to sigs.k8s.io/yaml", "[codec]") {
  // Printed by sigs.k8s.io/yaml v1.6.0.
  const YamlRow rows[] = {
      {"yes", "true"},
      {"Off", "false"},
      {"y", "true"},
      {"N", "false"},
      {"~", "null"},
      {"Null", "null"},
      {"", "null"},
      {"nil", "\"nil\""},
      {"08", "8"},
      {"010", "8"},
      {"0o17", "15"},
      {"0x1F", "31"},
      {"0b101", "5"},
      {"-0b11", "-3"},
      {"+5", "5"},
      {"1_000", "1000"},
      {"1e3", "1000"},
      {"1.0", "1"},
      {"1.5", "1.5"},
      {".5", "0.5"},
      {"-.5", "-0.5"},
      {"1.", "1"},
      {"0o8", "\"0o8\""},
      {"0x", "\"0x\""},
      {"09.5", "9.5"},
      {"1e400", "\"1e400\""},
      {"1:30", "\"1:30\""},
      {"2001-01-01", "\"2001-01-01\""},
      {"\"1\"", "\"1\""},
      {"'yes'", "\"yes\""},
      {"!!str 5", "\"5\""},
      {"!!float 5", "5"},
      {"!!binary aGk=", "\"hi\""},
      {"!foo bar", "\"bar\""},
      {"_1", "\"_1\""},
      {"\"\\x41\"", "\"A\""},
      {"9223372036854775807", "9223372036854775807"},
      {"-9223372036854775808", "-9223372036854775808"},
      {".inf", "json: unsupported value: +Inf"},
      {"!!int abc", "yaml: cannot decode !!str `abc` as a !!int"},
  };
  for (const YamlRow& row : rows) {
    INFO(row.text);
    CHECK(FromYaml(row.text) == row.expected);
  }
}

TEST_CASE("codec: YAML documents become what JSON can say", "[codec]") {
  const YamlRow rows[] = {
      {"a: 1\nb:\n- x\n- {c: [d]}\n", R"({"a":1,"b":["x",{"c":["d"]}]})"},
      {"1: a\ntrue: b\n1.5: c\n", R"({"1":"a","true":"b","1.5":"c"})"},
      // Keys are floats of 32 bits.
      {"1e39: a\n-1e39: b\n", R"({".inf":"a","-.inf":"b"})"},
      {"a: |\n  x\n   y\nb: >-\n  q\n  r\n", R"({"a":"x\n y\n","b":"q r"})"},
      {"a: &x {b: 1, c: 2}\nd:\n  <<: *x\n  c: 3\n", R"({"a":{"b":1,"c":2},"d":{"b":1,"c":3}})"},
      {"d:\n  <<: [{a: 1}, {a: 2, b: 3}]\n", R"({"d":{"a":1,"b":3}})"},
      {"a: &x [1]\nb: *x\nc: *x\n", R"({"a":[1],"b":[1],"c":[1]})"},
      {"---\na: 1\n---\nb: 2\n", R"({"a":1})"},
      {"# nothing\n", "null"},
      {R"({"json": [1, "x", null]})", R"({"json":[1,"x",null]})"},
  };
  for (const YamlRow& row : rows) {
    INFO(row.text);
    CHECK(FromYaml(row.text) == row.expected);
  }
}

TEST_CASE("codec: YAML that is none is refused in go-yaml's words", "[codec]") {
  const YamlRow rows[] = {
      {"a: b: c\n", "yaml: mapping values are not allowed in this context"},
      {"a: 1\nb: c: d\n", "yaml: line 2: mapping values are not allowed in this context"},
      {"a:\n\t- b\n", "yaml: line 2: found character that cannot start any token"},
      {"\"abc", "yaml: found unexpected end of stream"},
      {"*nope", "yaml: unknown anchor 'nope' referenced"},
      {"&a [*a]", "yaml: anchor 'a' value contains itself"},
      {"d:\n  <<: 5\n", "yaml: map merge requires map or sequence of maps as the value"},
      {"x: @foo\n", "yaml: found character that cannot start any token"},
      {"a: \x01\n", "yaml: control characters are not allowed"},
      {"~: 1\n", "unsupported map key of type: %!s(<nil>), key: <nil>"},
  };
  for (const YamlRow& row : rows) {
    INFO(row.text);
    CHECK(FromYaml(row.text) == row.expected);
  }
}

TEST_CASE("codec: keys set twice in YAML are told with line and key", "[codec]") {
  std::vector<std::string> duplicates;

  const std::string json = FromYaml("a: 1\nb:\n  x: 1\n  x: 2\na: 3\n1: c\n0x1: d\n", &duplicates);

  CHECK(json == R"({"a":3,"b":{"x":2},"1":"d"})");
  CHECK(duplicates == std::vector<std::string>{"line 4: key \"x\" already set in map",
                                               "line 5: key \"a\" already set in map",
                                               "line 7: key 1 already set in map"});
}

TEST_CASE("codec: a YAML bomb is refused", "[codec]") {
  std::string nodes = "a0: &a0 [x,x,x,x,x,x,x,x,x]\n";
  for (int i = 1; i < 30; ++i) {
    const std::string alias = "*a" + std::to_string(i - 1);
    nodes += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [";
    for (int j = 0; j < 8; ++j) nodes += alias + ",";
    nodes += alias + "]\n";
  }
  CHECK(FromYaml(nodes) == "yaml: document contains excessive aliasing");
}

TEST_CASE("codec: a long text repeated by aliases is refused", "[codec]") {
  std::string text = "a: &a " + std::string(100'000, 'x') + "\nb:\n";
  for (int i = 0; i < 1000; ++i) text += "- *a\n";
  CHECK(FromYaml(text) == "yaml: document contains excessive aliasing");
}

TEST_CASE("codec: deeply nested YAML costs an error, not the stack", "[codec]") {
  CHECK(FromYaml(std::string(100'000, '[')) == "yaml: exceeded max depth of 10000");
  std::string blocks;
  for (int i = 0; i < 20'000; ++i) blocks += "- ";
  CHECK(FromYaml(blocks) == "yaml: exceeded max depth of 10000");
}

TEST_CASE("codec: YAML is written as sigs.k8s.io/yaml does", "[codec]") {
  // Printed by sigs.k8s.io/yaml v1.6.0.
  const YamlRow rows[] = {
      {R"({"b":[1,{"c":"x"},[]],"a":{},"d":null})", "a: {}\nb:\n- 1\n- c: x\n- []\nd: null\n"},
      {R"({"k10":1,"k9":2,"K":3,"k":4,"-":5})", "'-': 5\nK: 3\nk: 4\nk9: 2\nk10: 1\n"},
      {R"(["1","true","~","","1e3","0x1f","2001-01-01","1:30","y","a"])",
       "- \"1\"\n- \"true\"\n- \"~\"\n- \"\"\n- \"1e3\"\n- \"0x1f\"\n- \"2001-01-01\"\n"
       "- \"1:30\"\n- \"y\"\n- a\n"},
      {R"(["a: b","a #b","- a","!x","it's","\"q\"","@x","{a","a,b"," a","%x"])",
       "- 'a: b'\n- 'a #b'\n- '- a'\n- '!x'\n- it's\n- '\"q\"'\n- '@x'\n- '{a'\n- a,b\n- ' a'\n"
       "- '%x'\n"},
      {R"({"a":"x\ny\n","b":"x\ny","c":"x\n\n"})",
       "a: |\n  x\n  y\nb: |-\n  x\n  y\nc: |+\n  x\n\n"},
      {R"(["a\tb","\u0001","a\r\nb"," \nx"])",
       "- \"a\\tb\"\n- \"\\x01\"\n- \"a\\r\\nb\"\n- \" \\nx\"\n"},
      {R"([1.5,1e21,1e20,1234567.25,0.00001,100000.5,3.0])",
       "- 1.5\n- 1e+21\n- 1e+20\n- 1.23456725e+06\n- 1e-05\n- 100000.5\n- 3\n"},
      {R"({"2001-12-14T21:59:43Z":"2001-13-01"})", "\"2001-12-14T21:59:43Z\": 2001-13-01\n"},
      {R"("\u65e5\u672c")", "日本\n"},
  };
  for (const YamlRow& row : rows) {
    INFO(row.text);
    CHECK(ToYaml(row.text) == row.expected);
  }
}

TEST_CASE("codec: long YAML text is folded at eighty columns", "[codec]") {
  std::string words = "word";
  for (int i = 1; i < 25; ++i) words += " word";
  CHECK(ToYaml("{\"message\":\"" + words + "\"}") ==
        "message: word word word word word word word word word word word word word word word\n"
        "  word word word word word word word word word word\n");
}

TEST_CASE("codec: a YAML stream is split at its separators", "[codec]") {
  const auto documents =
      SplitYamlDocuments("---\na: 1\n---\n# none\n---\nb: |\n  --- x\n--- \nc: 3");
  REQUIRE(documents.size() == 3);
  CHECK(documents[0] == "a: 1\n");
  CHECK(documents[1] == "b: |\n  --- x\n");
  CHECK(documents[2] == "c: 3");
  CHECK(SplitYamlDocuments("").empty());
}

}  // namespace
}  // namespace apiserver::inline v0::codec
