#include "apiserver/patch/merge_patch.h"

#include <catch2/catch.hpp>

#include "apiserver/codec/json.h"
#include "codec/text.h"

namespace apiserver::inline v0::patch {
namespace {

using codec::testing::Json;
using runtime::Arena;
using runtime::Value;

struct MergeRow {
  std::string first;
  std::string second;
  std::string expected;
};

TEST_CASE("patch: merge patches apply as evanphx/json-patch v4 applies them", "[patch]") {
  const MergeRow rows[] = {
      {R"({"a":"b"})", R"({"a":"c"})", R"({"a":"c"})"},
      {R"({"a":"b"})", R"({"b":"c"})", R"({"a":"b","b":"c"})"},
      {R"({"a":"b"})", R"({"a":null})", R"({})"},
      {R"({"a":"b","b":"c"})", R"({"a":null})", R"({"b":"c"})"},
      {R"({"a":["b"]})", R"({"a":"c"})", R"({"a":"c"})"},
      {R"({"a":"c"})", R"({"a":["b"]})", R"({"a":["b"]})"},
      {R"({"a":{"b":"c"}})", R"({"a":{"b":"d","c":null}})", R"({"a":{"b":"d"}})"},
      {R"({"a":[{"b":"c"}]})", R"({"a":[1]})", R"({"a":[1]})"},
      {R"({"e":null})", R"({"a":1})", R"({"a":1,"e":null})"},
      {R"({"e":null})", R"({"e":{"x":null,"y":1}})", R"({"e":{"y":1}})"},
      {R"({})", R"({"a":{"bb":{"ccc":null}}})", R"({"a":{"bb":{}}})"},
      {R"({})", R"({"a":[null,{"b":null}]})", R"({"a":[null,{}]})"},
      {R"({"a":{}})", R"({"a":[null,{"b":null}]})", R"({"a":[null,{"b":null}]})"},
      {R"({"a":1})", R"({"a":{"b":null,"c":1}})", R"({"a":{"c":1}})"},
      {R"({"a":1})", R"({})", R"({"a":1})"},
  };
  for (const MergeRow& row : rows) {
    INFO(row.first << " " << row.second);
    Arena arena;
    const Value document = codec::ParseJson(row.first, arena).value();
    const Value patch = codec::ParseJson(row.second, arena).value();
    CHECK(Json(ApplyMergePatch(document, patch, arena).value()) == row.expected);
  }
}

TEST_CASE("patch: a merge patch merges into raw JSON", "[patch]") {
  Arena arena;
  const runtime::Member members[] = {{"raw", Value::Raw(R"({"a":{"b":1},"c":2})")}};
  const Value patch = codec::ParseJson(R"({"raw":{"a":{"d":3},"c":null}})", arena).value();
  CHECK(Json(ApplyMergePatch(Value::Map(members), patch, arena).value()) ==
        R"({"raw":{"a":{"b":1,"d":3}}})");
}

TEST_CASE("patch: a merge patch must be a map", "[patch]") {
  Arena arena;
  for (const std::string_view text : {"null", "[]", "1", "\"x\""}) {
    const Status status =
        ApplyMergePatch(Value::Map({}), codec::ParseJson(text, arena).value(), arena).status();
    CHECK(status.reason() == Reason::kBadRequest);
    CHECK(status.message() == "Invalid JSON Patch");
  }
}

TEST_CASE("patch: a merge patch is made of what differs, and makes it so", "[patch]") {
  const MergeRow rows[] = {
      {R"({"a":1})", R"({"a":1})", R"({})"},
      {R"({"a":1})", R"({"a":2})", R"({"a":2})"},
      {R"({"a":1,"b":2})", R"({"b":2})", R"({"a":null})"},
      {R"({"a":{"b":1,"c":2}})", R"({"a":{"b":1,"c":3,"d":4}})", R"({"a":{"c":3,"d":4}})"},
      {R"({"a":{"b":1}})", R"({"a":[1]})", R"({"a":[1]})"},
      {R"({"a":[1,2]})", R"({"a":[1,3]})", R"({"a":[1,3]})"},
      {R"({})", R"({"a":{"b":{}}})", R"({"a":{"b":{}}})"},
  };
  for (const MergeRow& row : rows) {
    INFO(row.first << " " << row.second);
    Arena arena;
    const Value original = codec::ParseJson(row.first, arena).value();
    const Value modified = codec::ParseJson(row.second, arena).value();

    const Value patch = CreateMergePatch(original, modified, arena);

    CHECK(Json(patch) == row.expected);
    CHECK(ApplyMergePatch(original, patch, arena).value() == modified);
  }
}

TEST_CASE("patch: merging is deep without recursion", "[patch]") {
  std::string text;
  for (int i = 0; i < 9'999; ++i) text += "{\"a\":";
  const std::string close(9'999, '}');
  const std::string before = text + "1" + close;
  const std::string after = text + "2" + close;
  Arena arena;
  const Value document = codec::ParseJson(before, arena).value();
  const Value patch = codec::ParseJson(after, arena).value();
  CHECK(ApplyMergePatch(document, patch, arena).value() == patch);
  CHECK(ApplyMergePatch(Value::Map({}), patch, arena).value() == patch);
}

TEST_CASE("patch: merging large maps is linear", "[patch]") {
  std::string text = "{\"k\":0";
  for (int i = 0; i < 50'000; ++i) text += ",\"k" + std::to_string(i) + "\":1";
  text += "}";
  Arena arena;
  const Value document = codec::ParseJson(text, arena).value();
  CHECK(ApplyMergePatch(document, document, arena).value() == document);
}

}  // namespace
}  // namespace apiserver::inline v0::patch
