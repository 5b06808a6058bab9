#include "apiserver/cel/value.h"

#include <array>
#include <catch2/catch.hpp>
#include <deque>
#include <limits>
#include <string>
#include <vector>

#include "apiserver/codec/json.h"
#include "apiserver/runtime/schema.h"
#include "cel/run/arithmetic.h"
#include "cel/run/equality.h"
#include "cel/run/lookup.h"
#include "cel/run/map.h"
#include "cel/run/order.h"
#include "cel/run/print.h"

namespace cel = apiserver::cel;
namespace runtime = apiserver::runtime;
using cel::Arena;
using cel::Value;
using runtime::SchemaPtr;

namespace {

// Parses data and views it.
struct Values {
  Value Data(std::string_view json, const SchemaPtr& schema = nullptr) {
    const std::string& text = texts.emplace_back(json);
    values.push_back(apiserver::codec::ParseJson(text, data_arena).value());
    return Value::FromData(values.back(), schema.get(), arena);
  }
  Value Equal(const Value& a, const Value& b) { return cel::Equal(a, b, arena); }
  Value Field(const Value& object, std::string_view name) {
    return cel::SelectField(object, {name, name}, arena);
  }
  std::string Print(const Value& value) {
    return value.is_error() ? "error: " + std::string(value.AsText())
                            : cel::PrintValue(value, arena);
  }

  Arena arena;
  runtime::Arena data_arena;
  std::deque<std::string> texts;
  std::deque<runtime::Value> values;
};

SchemaPtr Text(const char* format) {
  runtime::SchemaParts parts;
  parts.type = runtime::SchemaType::kString;
  parts.constraints.format = format;
  return runtime::MakeSchema(parts);
}

}  // namespace

TEST_CASE_METHOD(Values, "cel: plain data is JSON", "[cel]") {
  const Value object = Data(R"({"a": 1, "b": [true, null, 1.5], "c": {"d": "x"}})");

  CHECK(Print(Field(object, "a")) == "1");
  CHECK(Print(Field(object, "b")) == "[true, 0, 1.5]");
  CHECK(Print(Field(Field(object, "c"), "d")) == "x");
  CHECK(Print(Field(object, "e")) == "error: no such key: e");
  CHECK(Print(Field(Field(object, "a"), "x")) == "error: no such key: x");
  CHECK(Print(Field(Field(object, "b"), "x")) == "error: unsupported index type 'string' in list");
}

TEST_CASE_METHOD(Values, "cel: base64 and raw JSON of an object become text and maps", "[cel]") {
  const runtime::Value bytes = runtime::Value::Bytes("hi");
  const runtime::Value raw = runtime::Value::Raw(R"({"f:spec": {}})");

  CHECK(Print(Value::FromData(bytes, nullptr, arena)) == "aGk=");
  const Value map = Value::FromData(raw, nullptr, arena);
  REQUIRE(map.is_map());
  CHECK(map.size() == 1);
  CHECK(Field(map, "f:spec").is_map());
}

TEST_CASE_METHOD(Values, "cel: a schema makes formats types", "[cel]") {
  const Value time = Data(R"("2024-02-29T12:00:00.5+01:00")", Text("date-time"));
  REQUIRE(time.Is(Value::Kind::kTimestamp));
  CHECK(Print(time) == "2024-02-29T12:00:00.5+01:00");
  CHECK(time.AsTime().seconds == 1709204400);
  CHECK(Print(Data(R"("2024-02-29")", Text("date"))) == "2024-02-29T00:00:00Z");
  CHECK(Data(R"("1h30m")", Text("duration")).AsInt() == 5'400'000'000'000);
  CHECK(Data(R"("2 days 1hr")", Text("duration")).AsInt() == 176'400'000'000'000);
  CHECK(Data(R"("aGk=")", Text("byte")).AsText() == "hi");
  CHECK(Data(R"("x")", Text("uuid")).is_string());
  CHECK(Print(Data(R"("x")", Text("duration"))) ==
        "error: Invalid duration x: unable to parse x as duration");
}

TEST_CASE_METHOD(Values, "cel: data that does not fit its schema is an error", "[cel]") {
  CHECK(Print(Data("1", runtime::StringSchema())) ==
        "error: invalid data, expected string, got int64");
  CHECK(Print(Data("1.5", runtime::IntegerSchema(64))) ==
        "error: invalid data, expected int, got float64");
  CHECK(Print(Data("null", runtime::StringSchema())) ==
        "error: invalid data, got null for schema with nullable=false");
  CHECK(Print(Data("true", runtime::IntOrStringSchema())) ==
        "error: invalid data, expected XIntOrString value to be either a string or integer");
  CHECK(Data("1", runtime::NumberSchema()).Is(Value::Kind::kDouble));
}

TEST_CASE_METHOD(Values, "cel: a null field of a schema is absent", "[cel]") {
  const SchemaPtr schema = runtime::StructBuilder("T")
                               .Field("a.b", runtime::StringSchema())
                               .Field("c", runtime::StringSchema())
                               .Build();
  const Value object = Data(R"({"a.b": "x", "c": null, "d": 1})", schema);

  CHECK(Print(cel::SelectField(object, {"a__dot__b", "a.b"}, arena)) == "x");
  CHECK_FALSE(cel::FindField(object, {"c", "c"}, arena).has_value());
  CHECK(Print(Field(object, "d")) == "error: no such key: d");
  CHECK(Print(Field(object, "a.b")) == "x");
  CHECK(cel::MapKeyAt(object, 0, arena)->AsText() == "a__dot__b");
  CHECK_FALSE(cel::MapKeyAt(object, 2, arena).has_value());
}

TEST_CASE_METHOD(Values, "cel: numbers are equal and ordered across types", "[cel]") {
  const double nan = std::numeric_limits<double>::quiet_NaN();

  CHECK(Equal(Value::Int(1), Value::Uint(1)).AsBool());
  CHECK(Equal(Value::Double(1), Value::Int(1)).AsBool());
  CHECK(Equal(Value::Int(9007199254740993), Value::Double(9007199254740992.0)).AsBool());
  CHECK_FALSE(Equal(Value::Double(nan), Value::Double(nan)).AsBool());
  CHECK_FALSE(Equal(Value::Int(-1), Value::Uint(~std::uint64_t{0})).AsBool());
  CHECK_FALSE(Equal(Value::Int(1), Value::String("1")).AsBool());
  CHECK(cel::Compare(Value::Int(-1), Value::Uint(1)).AsInt() == -1);
  CHECK(cel::Compare(Value::Uint(2), Value::Double(1.5)).AsInt() == 1);
  CHECK(cel::Compare(Value::Int(std::numeric_limits<std::int64_t>::max()),
                     Value::Double(9223372036854775808.0))
            .AsInt() == 0);
  CHECK(Print(cel::Compare(Value::Double(nan), Value::Int(1))) ==
        "error: NaN values cannot be ordered");
  CHECK(Print(cel::Compare(Value::Int(1), Value::String("x"))) == "error: no such overload");
}

TEST_CASE_METHOD(Values, "cel: lists and maps compare by content", "[cel]") {
  CHECK(Equal(Data(R"({"a": [1, {"b": 2}], "c": null})"),
              Data(R"({"c": null, "a": [1.0, {"b": 2}]})"))
            .AsBool());
  CHECK_FALSE(Equal(Data("[1, 2]"), Data("[2, 1]")).AsBool());
  CHECK_FALSE(Equal(Data(R"({"a": 1})"), Data(R"({"b": 1})")).AsBool());
  CHECK_FALSE(Equal(Data("[1]"), Data("{}")).AsBool());
  CHECK(Print(Equal(Data("[1]", runtime::ListOf(runtime::IntegerSchema(64))), Value::Int(1))) ==
        "error: no such overload");
}

TEST_CASE_METHOD(Values, "cel: sets and map-lists ignore order and merge", "[cel]") {
  const SchemaPtr set = runtime::SetOf(runtime::StringSchema());
  const SchemaPtr map_list = runtime::ListMapOf(runtime::StructBuilder("E")
                                                    .Field("k", runtime::StringSchema())
                                                    .Field("v", runtime::IntegerSchema(64))
                                                    .Build(),
                                                {"k"});
  const Value abc = Data(R"(["a", "b", "c"])", set);
  const Value cab = Data(R"(["c", "a", "b"])", set);
  const Value first = Data(R"([{"k": "x", "v": 1}, {"k": "y", "v": 2}])", map_list);
  const Value second = Data(R"([{"k": "y", "v": 3}, {"k": "z", "v": 4}])", map_list);
  const Value swapped = Data(R"([{"k": "y", "v": 2}, {"k": "x", "v": 1}])", map_list);

  CHECK(Equal(abc, cab).AsBool());
  CHECK_FALSE(Equal(abc, Data(R"(["a", "b", "d"])", set)).AsBool());
  CHECK(Equal(first, swapped).AsBool());
  CHECK_FALSE(Equal(first, second).AsBool());
  CHECK(Print(cel::AddLists(abc, Data(R"(["d", "b"])", set), arena)) == "[a, b, c, d]");
  CHECK(Print(cel::AddLists(first, second, arena)) == "[{k: x, v: 1}, {k: y, v: 3}, {k: z, v: 4}]");
  // The left operand decides.
  CHECK(Print(cel::AddLists(Data(R"(["a"])"), abc, arena)) == "[a, a, b, c]");
  CHECK(
      Equal(cel::AddLists(abc, Data(R"(["d"])", set), arena), Data(R"(["d", "c", "b", "a"])", set))
          .AsBool());
}

TEST_CASE_METHOD(Values, "cel: deep values are compared on constant stack", "[cel]") {
  constexpr std::size_t kDepth = 200'000;
  const auto deep = [this](std::int64_t last) {
    Value value = Value::Int(last);
    for (std::size_t i = 0; i < kDepth; ++i) {
      value = Value::List(arena.Copy(std::span<const Value>(&value, 1)));
    }
    return value;
  };

  CHECK(Equal(deep(1), deep(1)).AsBool());
  CHECK_FALSE(Equal(deep(1), deep(2)).AsBool());
  CHECK(Print(deep(1)).size() < 2000);
}

TEST_CASE_METHOD(Values, "cel: built maps keep the kinds of keys apart but find across", "[cel]") {
  cel::MapContent map;
  for (int i = 0; i < 100; ++i) cel::MapPut(map, Value::Int(i), Value::Int(i * i), arena);
  cel::MapPut(map, Value::Uint(7), Value::String("uint"), arena);
  cel::MapPut(map, Value::Int(7), Value::String("int"), arena);

  CHECK(map.count == 101);
  CHECK(cel::FindKey(map, Value::Double(9))->AsInt() == 81);
  CHECK(cel::FindKey(map, Value::Uint(9))->AsInt() == 81);
  CHECK(cel::FindKey(map, Value::Uint(7))->AsText() == "uint");
  CHECK(cel::FindKey(map, Value::Int(7))->AsText() == "int");
  CHECK(cel::FindKey(map, Value::Double(9.5)) == nullptr);
  CHECK(cel::FindKey(map, Value::String("9")) == nullptr);
  cel::MapRemove(map, Value::Int(8), arena);
  CHECK(cel::FindKey(map, Value::Int(8)) == nullptr);
  CHECK(cel::FindKey(map, Value::Int(99))->AsInt() == 9801);
  CHECK(map.entries[8].key.AsInt() == 9);
}

TEST_CASE_METHOD(Values, "cel: arithmetic is checked", "[cel]") {
  constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();
  const auto print = [this](const std::optional<Value>& value) {
    return value.has_value() ? Print(*value) : "none";
  };

  CHECK(print(cel::Add(Value::Int(1), Value::Int(2), arena)) == "3");
  CHECK(print(cel::Add(Value::Int(kMin), Value::Int(-1), arena)) == "error: integer overflow");
  CHECK(print(cel::Subtract(Value::Uint(1), Value::Uint(2))) == "error: unsigned integer overflow");
  CHECK(print(cel::Divide(Value::Int(-7), Value::Int(2))) == "-3");
  CHECK(print(cel::Modulo(Value::Int(-7), Value::Int(2))) == "-1");
  CHECK(print(cel::Divide(Value::Int(kMin), Value::Int(-1))) == "error: integer overflow");
  CHECK(print(cel::Modulo(Value::Int(1), Value::Int(0))) == "error: modulus by zero");
  CHECK(print(cel::Divide(Value::Double(1), Value::Double(0))) == "+Inf");
  CHECK(print(cel::Negate(Value::Int(kMin))) == "error: integer overflow");
  CHECK(print(cel::Add(Value::String("a"), Value::String("b"), arena)) == "ab");
  CHECK(print(cel::Add(Value::Int(1), Value::Uint(1), arena)) == "error: no such overload");
  CHECK(print(cel::Add(Value(), Value(), arena)) == "none");
  CHECK(print(cel::Add(Value::Timestamp({0, 999'999'999, 3600}), Value::Duration(2), arena)) ==
        "1970-01-01T01:00:01.000000001+01:00");
  CHECK(print(cel::Add(Value::Timestamp({253402300799, 0, 0}), Value::Duration(1'000'000'000),
                       arena)) == "error: timestamp overflow");
  CHECK(print(cel::Subtract(Value::Timestamp({10, 1, 0}), Value::Timestamp({9, 2, 0}))) ==
        "0.999999999s");
}

TEST_CASE_METHOD(Values, "cel: an index is a whole number or a key", "[cel]") {
  const Value list = Data("[10, 20]");
  const Value map = Data(R"({"a": 1})");

  CHECK(Print(cel::ApplyIndex(list, Value::Double(1), arena)) == "20");
  CHECK(Print(cel::ApplyIndex(list, Value::Uint(5), arena)) == "error: index out of bounds: 5");
  CHECK(Print(cel::ApplyIndex(list, Value::Int(-1), arena)) == "error: index out of bounds: -1");
  CHECK(Print(cel::ApplyIndex(list, Value::Double(0.5), arena)) ==
        "error: unsupported index value 0.5 in list");
  CHECK(Print(cel::ApplyIndex(map, Value::Int(1), arena)) == "error: no such key: 1");
  CHECK(Print(cel::ApplyIndex(map, Value(), arena)) == "error: invalid qualifier type: <nil>");
  CHECK_FALSE(cel::FindIndex(Value::Int(1), Value::String("x"), arena).has_value());
}

TEST_CASE_METHOD(Values, "cel: members of large maps are found however often one looks", "[cel]") {
  std::string json = "{";
  for (int i = 0; i < 300; ++i) {
    if (i > 0) json += ',';
    json.append("\"key").append(std::to_string(i)).append("\":").append(std::to_string(i));
  }
  const Value map = Data(json + "}");

  for (int round = 0; round < 3; ++round) {
    for (const std::int64_t i : {0, 7, 150, 299}) {
      const std::string key = "key" + std::to_string(i);
      const auto found = cel::FindInMap(map, Value::String(key), arena);
      REQUIRE(found.has_value());
      CHECK(found->AsInt() == i);
      CHECK_FALSE(cel::FindInMap(map, Value::String(key + "x"), arena).has_value());
    }
    if (round == 1) arena.ForgetMaps();
  }
}

TEST_CASE_METHOD(Values, "cel: a comparison ends when no work is left", "[cel]") {
  const Value list = Data("[1, 2, 3, 4, 5, 6, 7, 8]");
  arena.set_work_left(4);

  CHECK(Print(Equal(list, list)) == "error: operation cancelled: actual cost limit exceeded");
  CHECK(arena.out_of_work());
}
