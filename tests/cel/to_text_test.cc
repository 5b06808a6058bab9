#include "apiserver/cel/to_text.h"

#include <array>
#include <catch2/catch.hpp>
#include <limits>
#include <string>
#include <string_view>

#include "apiserver/codec/json.h"
#include "apiserver/runtime/schema.h"
#include "cel/run/map.h"
#include "cel/types/spell.h"

namespace cel = apiserver::cel;
namespace runtime = apiserver::runtime;
using cel::Value;

namespace {

struct Printing {
  std::string Text(const Value& value) { return cel::ToText(value, arena); }
  std::string OfJson(std::string_view json, const runtime::SchemaPtr& schema = nullptr) {
    const runtime::Value data = apiserver::codec::ParseJson(json, data_arena).value();
    return Text(Value::FromData(data, schema.get(), arena));
  }

  cel::Arena arena;
  runtime::Arena data_arena;
};

}  // namespace

TEST_CASE_METHOD(Printing, "cel: a value prints as a literal of its type", "[cel]") {
  const auto infinity = std::numeric_limits<double>::infinity();

  CHECK(Text(Value()) == "null");
  CHECK(Text(Value::Bool(true)) == "true");
  CHECK(Text(Value::Int(-1)) == "-1");
  CHECK(Text(Value::Uint(7)) == "7u");
  CHECK(Text(Value::Double(2)) == "2.0");
  CHECK(Text(Value::Double(1e100)) == "1e+100");
  CHECK(Text(Value::Double(-infinity)) == R"(double("-Inf"))");
  CHECK(Text(Value::String("a \"<b>\"\n\x01 \\ 👑")) == R"("a \"<b>\"\n\u0001 \\ 👑")");
  CHECK(Text(Value::Bytes("a\"\xff")) == R"(b"a\"\xff")");
  CHECK(Text(Value::Duration(-1'500'000'000)) == R"(duration("-1.5s"))");
  CHECK(Text(Value::Timestamp({.seconds = 0, .nanoseconds = 5'000'000, .offset_seconds = 3600})) ==
        R"(timestamp("1970-01-01T01:00:00.005+01:00"))");
  CHECK(Text(Value::OfType(cel::types::kString)) == "string");
  CHECK(Text(Value::Error("no such key: a")) == "<error: no such key: a>");
}

TEST_CASE_METHOD(Printing, "cel: data prints as the JSON that it is", "[cel]") {
  CHECK(OfJson(R"({"a": [1, -2.5, "x", null, true], "b": {}, "c": [[]]})") ==
        R"({"a": [1, -2.5, "x", null, true], "b": {}, "c": [[]]})");

  std::string deep = std::string(5'000, '[') + std::string(5'000, ']');
  CHECK(OfJson(deep) == deep);
}

TEST_CASE_METHOD(Printing, "cel: data prints as its schema shows it", "[cel]") {
  const auto schema = runtime::StructBuilder("Part")
                          .Field("dash-ed", runtime::IntegerSchema(64))
                          .Field("gone", runtime::StringSchema())
                          .Build();

  CHECK(OfJson(R"({"dash-ed": 1, "gone": null, "undeclared": 2})", schema) ==
        R"({"dash__dash__ed": 1})");
}

TEST_CASE_METHOD(Printing, "cel: values that an evaluation made print with their parts", "[cel]") {
  cel::MapContent content;
  cel::MapPut(content, Value::Int(1), Value::None(), arena);
  cel::MapPut(content, Value::Bool(false), Value::Optional(Value::Int(2), arena), arena);
  cel::MapContent fields;
  cel::MapPut(fields, Value::String("replicas"), Value::Int(3), arena);
  static constexpr cel::TypeNode kObject = cel::types::Object("Object.spec");
  const std::array items = {Value::Map(content), Value::Struct(fields, kObject), Value::Uint(1)};

  CHECK(Text(Value::List(items)) ==
        "[{1: optional.none(), false: optional.of(2)}, Object.spec{replicas: 3}, 1u]");
}
