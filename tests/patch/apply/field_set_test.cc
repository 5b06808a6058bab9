#include "apiserver/patch/apply/field_set.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "apiserver/codec/json.h"

namespace apiserver::inline v0 {
namespace {

using patch::apply::DecodeFieldsV1;
using patch::apply::FieldSet;
using patch::apply::NewFieldSet;
using patch::apply::PathElement;
using runtime::Arena;

std::string EncodedSet(FieldSet set) {
  std::string out;
  patch::apply::AppendFieldsV1(set, out);
  return out;
}

// What DecodeFieldsV1 and AppendFieldsV1 make of a text together; its error if there is one.
std::string There(std::string_view json) {
  Arena arena;
  const auto set = DecodeFieldsV1(json, arena);
  return set.ok() ? EncodedSet(*set) : std::string(set.status().message());
}

std::string Nested(std::size_t depth) {
  std::string json;
  for (std::size_t i = 0; i < depth; ++i) json += "{\"f:a\":";
  return json + "{}" + std::string(depth, '}');
}

TEST_CASE("patch.apply: FieldsV1 comes back as it went", "[patch.apply]") {
  for (const std::string json : {
           R"({})",
           R"({"f:a":{".":{},"f:b":{}},"k:{\"name\":\"x\",\"port\":80}":{"f:c":{}},"v:1":{}})",
           R"({"f:":{},"f:a\"b\\c\n\t\u0001":{},"f:é<&>":{}})",
           R"({"k:{\"a\":1.5}":{},"k:{\"a\":\"\\u003c\"}":{},"k:{\"a\":true}":{}})",
           R"({"v:\"a\"":{},"v:true":{},"v:[1,2]":{},"v:{\"a\":1}":{},"v:null":{}})",
           R"({"i:0":{},"i:12":{}})",
           R"({"v:1e-07":{},"v:0.00001":{},"v:100000000000000000000":{},"v:1e+21":{}})",
       }) {
    CHECK(There(json) == json);
  }
}

// The answers of fieldpath.Set.FromJSON and ToJSON to the same texts.
TEST_CASE("patch.apply: FieldsV1 is read as upstream reads it", "[patch.apply]") {
  CHECK(There(R"({"f:b":{},"f:a":{}})") == R"({"f:a":{},"f:b":{}})");
  CHECK(There(R"( {"f:a" : { } , "f:b":null } )") == R"({"f:a":{},"f:b":{}})");
  CHECK(There(R"({"f:a":{"f:b":{}},"f:a":{"f:c":{}}})") == R"({"f:a":{"f:c":{}}})");
  CHECK(There(R"({"f:a":{"f:b":{}},"f:a":{".":{}}})") == R"({"f:a":{".":{},"f:b":{}}})");
  CHECK(There(R"({"f:a":{},"f:a":{"f:c":{}}})") == R"({"f:a":{".":{},"f:c":{}}})");
  CHECK(There(R"({"z:a":{"f:b":[1,{"x":"\"}"}]},"f:a":{}})") == R"({"f:a":{}})");
  CHECK(There(R"({".":1})") == "{}");
  CHECK(There("null") == "{}");
  CHECK(There(R"({"k:{\"b\":1,\"a\":2}":{}})") == R"({"k:{\"a\":2,\"b\":1}":{}})");
  CHECK(There(R"({"k:null":{},"v: 1 ":{},"i:+1":{},"i:01":{}})") ==
        R"({"k:{}":{},"v:1":{},"i:1":{}})");
  CHECK(There(R"({"v:1":{},"v:1.0":{}})") == R"({"v:1":{}})");
  CHECK(There(R"({"v:9007199254740993":{}})") == R"({"v:9007199254740992":{}})");
  CHECK(There(R"({"f:\ud800\u00e9\/":{}})") == "{\"f:\xEF\xBF\xBD\xC3\xA9/\":{}}");
}

TEST_CASE("patch.apply: what is no FieldsV1 is refused", "[patch.apply]") {
  for (const std::string_view json : {
           "",
           "[]",
           "{",
           "{}}",
           R"({"f:a":{}}x)",
           R"({"f:a":1})",
           R"({"f:a":[]})",
           R"({"f:a":"x"})",
           R"({"f:a":{},})",
           R"({"f:a" {}})",
           R"({"a":{}})",
           R"({"":{}})",
           R"({"f":{}})",
           R"({"i:x":{}})",
           R"({"i:":{}})",
           R"({"i:99999999999999999999":{}})",
           R"({"k:[1]":{}})",
           R"({"k:{\"a\":1}}":{}})",
           R"({"k:{\"a\"}":{}})",
           R"({"v:1 2":{}})",
           R"({"v:":{}})",
           R"({"v:tru":{}})",
           R"({"v:01":{}})",
           R"({"z:a":x})",
           R"({"z:a":[1 2]})",
           R"({"z:a":{"b"}})",
           "{\"f:a\nb\":{}}",
           R"({"f:\x":{}})",
           R"({"f:a)",
       }) {
    Arena arena;
    INFO(json);
    CHECK(DecodeFieldsV1(json, arena).status().reason() == Reason::kBadRequest);
  }
}

TEST_CASE("patch.apply: FieldsV1 that was parsed with its object is the same", "[patch.apply]") {
  for (const auto& json : std::vector<std::string>{
           R"({"f:a":{".":{},"f:b":{}},"k:{\"name\":\"x\",\"port\":80}":{"f:c":{}},"v:1":{}})",
           R"({"f:b":null,"f:a":{"z:b":[1]},"f:":{},"f:a\"b\\c\n\t\u0001":{},"i:+1":{}})",
           R"({".":1})",
           "null",
           R"({"f:a":[]})",
           R"({"f":{}})",
           R"({"k:{\"a\"}":{}})",
           R"(["f:a"])",
           Nested(FieldSet::kDepthMax),
           Nested(FieldSet::kDepthMax + 1),
       }) {
    Arena arena;
    INFO(json);
    const auto of_text = DecodeFieldsV1(json, arena);
    const auto value =
        codec::ParseJson(json, arena, nullptr, {.depth_max = FieldSet::kDepthMax + 2});
    REQUIRE(value.ok());
    const auto of_value = DecodeFieldsV1(*value, arena);
    REQUIRE(of_value.ok() == of_text.ok());
    if (of_text.ok()) {
      CHECK(*of_value == *of_text);
    } else {
      CHECK(of_value.status().message() == of_text.status().message());
    }
    const auto of_raw = DecodeFieldsV1(runtime::Value::Raw(json), arena);
    CHECK(of_raw.ok() == of_text.ok());
  }
}

TEST_CASE("patch.apply: FieldsV1 deeper than any object is refused", "[patch.apply]") {
  Arena arena;
  CHECK(DecodeFieldsV1(Nested(FieldSet::kDepthMax), arena).ok());
  CHECK(There(Nested(FieldSet::kDepthMax + 1)) == "managedFields parsing: exceeded max depth");
  CHECK(There(Nested(200'000)) == "managedFields parsing: exceeded max depth");
  const std::string skipped = "{\"z:\":" + std::string(200'000, '[') + "}";
  CHECK(There(skipped) == "managedFields parsing: exceeded max depth");
  const std::string value = "{\"v:" + std::string(200'000, '[') + "\":{}}";
  CHECK_FALSE(DecodeFieldsV1(value, arena).ok());
}

TEST_CASE("patch.apply: a set knows its members from their parents", "[patch.apply]") {
  Arena arena;
  const PathElement a = PathElement::FieldName("a");
  const PathElement b = PathElement::FieldName("b");
  const FieldSet set = NewFieldSet({{a, b}}, arena);
  CHECK(set.Has(std::vector{a, b}));
  CHECK_FALSE(set.Has(std::vector{a}));
  CHECK_FALSE(set.Has({}));
  CHECK(set.Size() == 1);
  const FieldSet both = set.Insert(std::vector{a}, arena);
  CHECK(both.Size() == 2);
  CHECK(both.ToString() == ".a\n.a.b");
  CHECK(both.Insert({}, arena) == both);
  CHECK(both.Difference(set, arena) == NewFieldSet({{a}}, arena));
  CHECK(both.RecursiveDifference(NewFieldSet({{a}}, arena), arena).Empty());
}

}  // namespace
}  // namespace apiserver::inline v0
