#include "apiserver/patch/json_patch.h"

#include <algorithm>
#include <string>

#include <catch2/catch.hpp>

#include "apiserver/codec/json.h"

namespace apiserver::inline v0::patch {
namespace {

using runtime::Arena;
using runtime::Value;

std::string Apply(const std::string& document, const std::string& patch,
                  const JsonPatchLimits& limits = {}) {
  Arena arena;
  const Result<Value> result =
      ApplyJsonPatch(codec::ParseJson(document, arena).value(), patch, arena, limits);
  if (!result.ok()) return std::string(result.status().message());
  std::string out;
  codec::AppendJson(*result, out);
  return out;
}

constexpr std::string_view kRefused =
    "the server rejected our request due to an error in our request";

struct Row {
  std::string document;
  std::string patch;
  std::string expected;
};

TEST_CASE("patch: JSON patches apply as evanphx/json-patch v4 applies them", "[patch]") {
  const Row rows[] = {
      {R"({"a":1})", R"([])", R"({"a":1})"},
      {R"({"a":1})", R"(null)", R"({"a":1})"},
      {R"({"a":1})", R"([{"op":"add","path":"/b","value":{"c":[]}}])", R"({"a":1,"b":{"c":[]}})"},
      {R"({"a":1})", R"([{"op":"add","path":"/a","value":2}])", R"({"a":2})"},
      {R"({"a":1})", R"([{"op":"add","path":"/b"}])", R"({"a":1,"b":null})"},
      {R"({"a":[1,3]})", R"([{"op":"add","path":"/a/1","value":2}])", R"({"a":[1,2,3]})"},
      {R"({"a":[1]})", R"([{"op":"add","path":"/a/-","value":2}])", R"({"a":[1,2]})"},
      {R"({"a":[1,2]})", R"([{"op":"add","path":"/a/-1","value":3}])", R"({"a":[1,2,3]})"},
      {R"({"a":[1,2]})", R"([{"op":"remove","path":"/a/-1"}])", R"({"a":[1]})"},
      {R"({"a":1,"b":2})", R"([{"op":"remove","path":"/a"}])", R"({"b":2})"},
      {R"({"a":{"b":1}})", R"([{"op":"replace","path":"/a/b","value":"x"}])", R"({"a":{"b":"x"}})"},
      {R"({"a":1})", R"([{"op":"replace","path":"/b","value":2}])", R"({"a":1,"b":2})"},
      {R"({"a":1})", R"([{"op":"replace","path":"","value":{"z":0}}])", R"({"z":0})"},
      {R"({"a":{"b":1},"c":{}})", R"([{"op":"move","from":"/a/b","path":"/c/d"}])",
       R"({"a":{},"c":{"d":1}})"},
      {R"({"a":[1,2,3]})", R"([{"op":"move","from":"/a/0","path":"/a/2"}])", R"({"a":[2,3,1]})"},
      {R"({"a":{"b":[1]}})",
       R"([{"op":"copy","from":"/a/b","path":"/c"},)"
       R"({"op":"add","path":"/c/-","value":2}])",
       R"({"a":{"b":[1]},"c":[1,2]})"},
      {R"({"a":1})", R"([{"op":"copy","from":"/none","path":"/b"}])", R"({"a":1,"b":null})"},
      {R"({"a":{"b":[1,{"c":null}]}})",
       R"([{"op":"test","path":"/a","value":{"b":[1,{"c":null}]}}])",
       R"({"a":{"b":[1,{"c":null}]}})"},
      {R"({"a":1})", R"([{"op":"test","path":"/b","value":null}])", R"({"a":1})"},
      {R"({"a":1})", R"([{"op":"test","path":"","value":{"a":1}}])", R"({"a":1})"},
      {R"({"m":{"a/b":1,"m~n":2}})",
       R"([{"op":"replace","path":"/m/a~1b","value":3},{"op":"remove","path":"/m/m~0n"}])",
       R"({"m":{"a/b":3}})"},
      {R"({"":1})", R"([{"op":"replace","path":"/","value":2}])", R"({"":2})"},
      {R"({"a":1})", R"([{"op":"remove","path":"/a"},{"op":"add","path":"/a","value":2}])",
       R"({"a":2})"},
      {R"({"a":[[]]})", R"([{"op":"add","path":"/a/0/0","value":1}])", R"({"a":[[1]]})"},
  };
  for (const Row& row : rows) {
    INFO(row.document << " " << row.patch);
    CHECK(Apply(row.document, row.patch) == row.expected);
  }
}

// `row.expected` is what patch.go of evanphx/json-patch v4 says of it.
void CheckRefused(const Row& row) {
  INFO(row.document << " " << row.patch);
  Arena arena;
  const Value document = codec::ParseJson(row.document, arena).value();
  const Status told = ApplyJsonPatchExplained(document, row.patch, arena).status();
  const Status refused = ApplyJsonPatch(document, row.patch, arena).status();
  CHECK(told == Status(Reason::kInvalid, row.expected));
  CHECK(refused.reason() == Reason::kInvalid);
  CHECK(refused.code() == 422);
  CHECK(refused.message() == kRefused);
}

TEST_CASE("patch: an operation that does not apply is refused, and explained to who may know",
          "[patch]") {
  const Row rows[] = {
      {R"({"a":1})", R"([{"op":"remove","path":"/b"}])",
       "error in remove for path: '/b': Unable to remove nonexistent key: b: missing value"},
      {R"({"a":1})", R"([{"op":"remove","path":"/b/c"}])",
       R"(remove operation does not apply: doc is missing path: "/b/c": missing value)"},
      {R"({"a":1})", R"([{"op":"add","path":"/b/c","value":1}])",
       R"(add operation does not apply: doc is missing path: "/b/c": missing value)"},
      {R"({"a":1})", R"([{"op":"add","path":"","value":{}}])",
       R"(add operation does not apply: doc is missing path: "": missing value)"},
      {R"({"a":1})", R"([{"op":"add","path":"b","value":1}])",
       R"(add operation does not apply: doc is missing path: "b": missing value)"},
      {R"({"a":1})", R"([{"op":"replace","path":"","value":1}])",
       "replace operation value must be object or array"},
      {R"({"a":1})", R"([{"op":"replace","path":"/b/c","value":1}])",
       "replace operation does not apply: doc is missing path: /b/c: missing value"},
      {R"({"a":1})", R"([{"op":"test","path":"/a","value":2}])",
       "testing value /a failed: test failed"},
      {R"({"a":1})", R"([{"op":"test","path":"/a","value":1.0}])",
       "testing value /a failed: test failed"},
      {R"({"a":1})", R"([{"op":"test","path":"/b","value":1}])",
       "testing value /b failed: test failed"},
      {R"({"a":1})", R"([{"op":"test","path":"","value":1}])",
       "testing value  failed: test failed"},
      {R"({"a":1})", R"([{"op":"test","path":"/b/c","value":1}])",
       "test operation does not apply: is missing path: /b/c: missing value"},
      {R"({"a":[1]})", R"([{"op":"test","path":"/a/1","value":1}])",
       "error in test for path: '/a/1': Unable to access invalid index: 1: invalid index "
       "referenced"},
      {R"({"a":[1]})", R"([{"op":"add","path":"/a/2","value":1}])",
       "error in add for path: '/a/2': Unable to access invalid index: 2: invalid index "
       "referenced"},
      {R"({"a":[1]})", R"([{"op":"add","path":"/a/-3","value":1}])",
       "error in add for path: '/a/-3': Unable to access invalid index: -3: invalid index "
       "referenced"},
      {R"({"a":[1]})", R"([{"op":"add","path":"/a/x","value":1}])",
       R"(error in add for path: '/a/x': value was not a proper array index: 'x': )"
       R"(strconv.Atoi: parsing "x": invalid syntax)"},
      {R"({"a":[1]})", R"([{"op":"replace","path":"/a/1","value":1}])",
       "replace operation does not apply: doc is missing key: /a/1: missing value"},
  };
  for (const Row& row : rows) CheckRefused(row);
}

TEST_CASE("patch: a move, a copy or no operation that does not apply is explained", "[patch]") {
  const Row rows[] = {
      {R"({"a":[1]})", R"([{"op":"remove","path":"/a/x"}])",
       R"(error in remove for path: '/a/x': strconv.Atoi: parsing "x": invalid syntax)"},
      {R"({"a":[1]})", R"([{"op":"remove","path":"/a/-"}])",
       R"(error in remove for path: '/a/-': strconv.Atoi: parsing "-": invalid syntax)"},
      {R"({"a":{}})", R"([{"op":"move","from":"/b","path":"/c"}])",
       "error in move for path: 'b': Unable to remove nonexistent key: b: missing value"},
      {R"({"a":{}})", R"([{"op":"move","from":"/b/c","path":"/c"}])",
       "move operation does not apply: doc is missing from path: /b/c: missing value"},
      {R"({"a":{"b":{}}})", R"([{"op":"move","from":"/a","path":"/a/b/c"}])",
       "move operation does not apply: doc is missing destination path: /a/b/c: missing value"},
      {R"({"a":[],"b":1})", R"([{"op":"move","from":"/b","path":"/a/1"}])",
       "error in move for path: '/a/1': Unable to access invalid index: 1: invalid index "
       "referenced"},
      {R"({"a":1})", R"([{"op":"move","from":"/a"}])",
       "move operation failed to decode path: operation missing path field: missing value"},
      {R"({"a":1})", R"([{"op":"copy","path":"/b"}])",
       "copy operation failed to decode from: operation, missing from field: missing value"},
      {R"({"a":1})", R"([{"op":"copy","from":"/a","path":"/b/c"}])",
       "copy operation does not apply: doc is missing destination path: /b/c: missing value"},
      {R"({"a":[]})", R"([{"op":"copy","from":"/a/0","path":"/b"}])",
       "error in copy for from: '/a/0': Unable to access invalid index: 0: invalid index "
       "referenced"},
      {R"({"a":[]})", R"([{"op":"copy","from":"/a","path":"/a/1"}])",
       "error while adding value during copy: Unable to access invalid index: 1: invalid index "
       "referenced"},
      {R"({"a":1})", R"([{"op":"jump","path":"/a"}])", "Unexpected kind: jump"},
      {R"({"a":1})", R"([{"path":"/a"}])", "Unexpected kind: unknown"},
      {R"({"a":1})", R"([{"op":"remove"}])",
       "remove operation failed to decode path: missing value"},
      {R"({"a":1})", R"([null])", "Unexpected kind: unknown"},
  };
  for (const Row& row : rows) CheckRefused(row);
}

TEST_CASE("patch: a JSON patch sees raw JSON and bytes as what they say", "[patch]") {
  Arena arena;
  const runtime::Member members[] = {{"raw", Value::Raw(R"({"a":[1]})")},
                                     {"bytes", Value::Bytes("hi")}};
  const Result<Value> patched = ApplyJsonPatch(Value::Map(members),
                                               R"([{"op":"test","path":"/bytes","value":"aGk="},)"
                                               R"({"op":"test","path":"/raw","value":{"a":[1]}},)"
                                               R"({"op":"add","path":"/raw/a/-","value":2}])",
                                               arena);
  REQUIRE(patched.ok());
  std::string json;
  codec::AppendJson(*patched, json);
  CHECK(json == R"({"bytes":"aGk=","raw":{"a":[1,2]}})");
}

TEST_CASE("patch: what is no JSON patch is a bad request", "[patch]") {
  const std::pair<std::string, std::string> rows[] = {
      {"", "error decoding patch: unexpected end of JSON input"},
      {"[{]",
       "error decoding patch: invalid character ']' looking for beginning of object key "
       "string"},
      {"{}",
       "error decoding patch: json: cannot unmarshal object into Go value of type "
       "[]handlers.jsonPatchOp"},
      {"[1]",
       "error decoding patch: json: cannot unmarshal number into Go value of type "
       "handlers.jsonPatchOp"},
      {R"([{"op":1}])",
       "error decoding patch: json: cannot unmarshal number into Go struct field "
       "jsonPatchOp.op of type string"},
  };
  for (const auto& [patch, message] : rows) {
    INFO(patch);
    Arena arena;
    const Status status = ApplyJsonPatch(Value::Map({}), patch, arena).status();
    CHECK(status.reason() == Reason::kBadRequest);
    CHECK(std::string(status.message()) == message);
  }
}

TEST_CASE("patch: too many operations are too large an entity", "[patch]") {
  std::string patch = R"([{"op":"add","path":"/a","value":1})";
  for (int i = 0; i < 10'000; ++i) patch += R"(,{"op":"add","path":"/a","value":1})";
  patch += "]";
  Arena arena;

  const Status status = ApplyJsonPatch(Value::Map({}), patch, arena).status();

  CHECK(status.reason() == Reason::kRequestEntityTooLarge);
  CHECK(status.message() ==
        "Request entity too large: The allowed maximum operations in a JSON patch is 10000, got "
        "10001");
}

TEST_CASE("patch: copying more than the limit is refused", "[patch]") {
  // Doubles with each operation.
  std::string patch = R"([{"op":"add","path":"/a","value":["xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"]})";
  for (int i = 0; i < 40; ++i) patch += R"(,{"op":"copy","from":"/a","path":"/a/-"})";
  CHECK(Apply("{}", patch + "]") == kRefused);
  Arena arena;
  CHECK(ApplyJsonPatchExplained(Value::Map({}),
                                R"([{"op":"add","path":"/a","value":"1234"},)"
                                R"({"op":"copy","from":"/a","path":"/b"},)"
                                R"({"op":"copy","from":"/a","path":"/c"}])",
                                arena, {.copy_bytes_max = 10})
            .status()
            .message() ==
        "Unable to complete the copy, the accumulated size increase of copy is 12, exceeding the "
        "limit 10");
  CHECK(Apply("{}", patch.substr(0, patch.find(",{\"op\":\"copy\"")) + "]",
              {.copy_bytes_max = 1}) == R"({"a":["xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"]})");
}

// A map that is searched often gets an index of its keys.
TEST_CASE("patch: the members of a map come and go, however often it is searched", "[patch]") {
  for (const int operations : {1, 7, 8, 9, 10, 40}) {
    std::string patch = "[";
    for (int i = 0; i < operations; ++i) {
      const std::string key = "/m" + std::to_string(i % 5);
      if (i > 0) patch += ',';
      patch += i % 10 < 5
                   ? R"({"op":"add","path":")" + key + R"(","value":)" + std::to_string(i) + "}"
                   : R"({"op":"remove","path":")" + key + R"("})";
    }
    const int added = std::min(operations % 10, 5);
    const int removed = std::max(operations % 10 - 5, 0);
    std::string expected = R"({"a":0)";
    for (int i = removed; i < added; ++i) {
      expected += R"(,"m)" + std::to_string(i) + R"(":)" + std::to_string(operations / 10 * 10 + i);
    }
    CHECK(Apply(R"({"a":0})", patch + "]") == expected + "}");
  }
}

TEST_CASE("patch: ten thousand inserts into a long list are done in good time", "[patch]") {
  std::string document = "{\"a\":[0";
  for (int i = 0; i < 100'000; ++i) document += ",0";
  document += "]}";
  std::string patch = R"([{"op":"add","path":"/a/0","value":1})";
  for (int i = 1; i < 10'000; ++i) patch += R"(,{"op":"add","path":"/a/0","value":1})";
  Arena arena;

  const Result<Value> result =
      ApplyJsonPatch(codec::ParseJson(document, arena).value(), patch + "]", arena);

  // A hundred thousand places moved ten thousand times are more than a patch may cost.
  CHECK(result.status().message() == kRefused);
  std::string appends = R"([{"op":"add","path":"/a/-","value":1})";
  for (int i = 1; i < 10'000; ++i) appends += R"(,{"op":"add","path":"/a/-","value":1})";
  Arena second;
  CHECK(ApplyJsonPatch(codec::ParseJson(document, second).value(), appends + "]", second)
            .value()["a"]
            .size() == 110'001);
}

TEST_CASE("patch: a document may not be nested deeper than JSON may be", "[patch]") {
  const std::string deep = std::string(9'000, '[') + std::string(9'000, ']');
  std::string path = "/a";
  for (int i = 0; i < 8'999; ++i) path += "/0";
  const std::string patch = R"([{"op":"add","path":"/a","value":)" + deep +
                            R"(},{"op":"add","path":")" + path + R"(/-","value":)" + deep + "}]";
  CHECK(Apply("{}", patch) == kRefused);
}

TEST_CASE("patch: unknown and duplicate fields of operations are told", "[patch]") {
  CHECK(JsonPatchStrictErrors(
            R"([{"op":"add","path":"/a","value":1},{"op":"x","op":"y","foo":1}])") ==
        std::vector<std::string>{R"(json patch duplicate field "[1].op")",
                                 R"(json patch unknown field "[1].foo")"});
  CHECK(JsonPatchStrictErrors("[{").empty());
}

}  // namespace
}  // namespace apiserver::inline v0::patch
