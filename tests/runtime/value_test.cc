#include "apiserver/runtime/value.h"

#include <catch2/catch.hpp>
#include <string>

#include "runtime/text.h"

namespace apiserver::inline v0::runtime {
namespace {

using testing::Parse;
using testing::Print;

// A map around a map around …, `depth` times.
Value Deep(std::size_t depth, Arena& arena) {
  Value value = Value::Int(1);
  for (std::size_t i = 0; i < depth; ++i) {
    MapBuilder map(arena);
    map.Add("a", value);
    value = map.Build();
  }
  return value;
}

// {"k0":0,"k1":1,…}, backwards if asked.
Value Large(int size, bool backwards, Arena& arena) {
  MapBuilder map(arena);
  for (int i = 0; i < size; ++i) {
    const int at = backwards ? size - 1 - i : i;
    map.Add(arena.Copy("k" + std::to_string(at)), Value::Int(at));
  }
  return map.Build();
}

TEST_CASE("runtime: an arena aligns, grows and survives being moved", "[runtime]") {
  Arena arena;
  (void)arena.Allocate(1, 1);
  const auto address = reinterpret_cast<std::uintptr_t>(arena.Allocate(16, 16));
  CHECK(address % 16 == 0);
  CHECK(arena.Allocate(1 << 20) != nullptr);
  CHECK(arena.bytes_reserved() >= 1 << 20);
  const std::string_view text = arena.Copy("kept");

  Arena moved = std::move(arena);

  CHECK(text == "kept");
  CHECK(arena.bytes_reserved() == 0);  // NOLINT: a moved-from arena is empty.
  CHECK(arena.Copy("again") == "again");
  CHECK(moved.Copy("on") == "on");
}

TEST_CASE("runtime: an arena takes little more than an object of some hundred bytes needs",
          "[runtime]") {
  Arena arena;
  for (const std::size_t reserved : {512, 768, 1024, 2048, 4096}) {
    while (arena.bytes_reserved() < reserved) (void)arena.Allocate(32);
    CHECK(arena.bytes_reserved() == reserved);
  }
}

TEST_CASE("runtime: an arena keeps what is pinned alive", "[runtime]") {
  auto owner = std::make_shared<std::string>("body");
  const std::weak_ptr<std::string> watch = owner;
  {
    Arena arena;
    arena.Pin(std::move(owner));
    CHECK_FALSE(watch.expired());
  }
  CHECK(watch.expired());
}

TEST_CASE("runtime: values answer what they are and fall back otherwise", "[runtime]") {
  CHECK(Value().is_null());
  CHECK(Value::Bool(true).AsBool());
  CHECK(Value::Int(1).AsBool(true));
  CHECK(Value::Int(-3).AsInt() == -3);
  CHECK(Value::Double(4.0).AsInt(7) == 4);
  CHECK(Value::Double(4.5).AsInt(7) == 7);
  CHECK(Value::Double(1e300).AsInt(7) == 7);
  CHECK(Value::Double(-9223372036854775808.0).AsInt(7) == INT64_MIN);
  CHECK(Value::Int(2).AsDouble() == 2.0);
  CHECK(Value::String("3").AsInt(5) == 5);
  CHECK(Value::String("text").AsString() == "text");
  CHECK(Value::Raw("{}").AsString() == "{}");
  CHECK(Value::Bytes("\x01").AsString() == "\x01");
  CHECK(Value::Int(1).AsString().empty());
  CHECK(Value::Int(1).items().empty());
  CHECK(Value::Int(1).members().empty());
}

TEST_CASE("runtime: reading a missing path yields null", "[runtime]") {
  Arena arena;
  const Value value = Parse(R"({"spec":{"replicas":3,"none":null},"list":[1,2]})", arena);
  CHECK(value["spec"]["replicas"].AsInt(1) == 3);
  CHECK(value["spec"]["missing"]["deeper"].AsInt(1) == 1);
  CHECK(value["list"].at(1).AsInt() == 2);
  CHECK(value["list"].at(2).is_null());
  CHECK(value["list"]["no map"].is_null());
  CHECK(value["spec"].Find("none") != nullptr);
  CHECK(value["spec"].Find("missing") == nullptr);
}

TEST_CASE("runtime: equality is deep, ignores the order of members and tells 1 from 1.0",
          "[runtime]") {
  Arena arena;
  const Value one = Parse(R"({"a":{"x":1,"y":[true,null,"t"]},"b":2.5})", arena);
  CHECK(one == Parse(R"({"b":2.5,"a":{"y":[true,null,"t"],"x":1}})", arena));
  CHECK_FALSE(one == Parse(R"({"a":{"x":1,"y":[true,null,"u"]},"b":2.5})", arena));
  CHECK_FALSE(one == Parse(R"({"a":{"x":1,"y":[true,null]},"b":2.5})", arena));
  CHECK_FALSE(one == Parse(R"({"a":{"x":1,"z":[true,null,"t"]},"b":2.5})", arena));
  CHECK_FALSE(Value::Int(1) == Value::Double(1.0));
  CHECK_FALSE(Value::String("a") == Value::Raw("a"));
  CHECK_FALSE(Value() == Value::Bool(false));
}

TEST_CASE("runtime: maps of 100,000 members in another order compare in reasonable time",
          "[runtime]") {
  Arena arena;
  CHECK(Large(100'000, false, arena) == Large(100'000, true, arena));
}

TEST_CASE("runtime: a million levels are compared and copied without the stack", "[runtime]") {
  Arena arena;
  const Value deep = Deep(1'000'000, arena);
  Arena other;
  const Value copy = Copy(deep, other);
  CHECK(copy == deep);
  CHECK_FALSE(copy == Deep(999'999, arena));
}

TEST_CASE("runtime: a copy shares nothing with its original", "[runtime]") {
  constexpr std::string_view kText = R"({"a":["x",{"b":"y"}],"c":{},"d":[],"e":null})";
  Arena target;
  Value copy;
  {
    Arena source;
    copy = Copy(Parse(kText, source), target);
  }
  CHECK(Print(copy) == kText);
}

TEST_CASE("runtime: With and Without make new maps and leave the old one", "[runtime]") {
  Arena arena;
  const Value map = Parse(R"({"a":1,"b":2})", arena);
  CHECK(Print(With(map, "a", Value::Int(3), arena)) == R"({"a":3,"b":2})");
  CHECK(Print(With(map, "c", Value::Int(3), arena)) == R"({"a":1,"b":2,"c":3})");
  CHECK(Print(With(Value(), "c", Value::Int(3), arena)) == R"({"c":3})");
  CHECK(Print(Without(map, "a", arena)) == R"({"b":2})");
  CHECK(Print(Without(map, "b", arena)) == R"({"a":1})");
  CHECK(Print(Without(map, "z", arena)) == R"({"a":1,"b":2})");
  CHECK(Print(Without(Parse(R"({"a":1})", arena), "a", arena)) == "{}");
  CHECK(Print(Without(Value(), "a", arena)) == "{}");
  CHECK(Print(map) == R"({"a":1,"b":2})");
}

TEST_CASE("runtime: empty builders build empty containers", "[runtime]") {
  Arena arena;
  CHECK(MapBuilder(arena).Build().is_map());
  CHECK(ListBuilder(arena).Build().is_list());
}

}  // namespace
}  // namespace apiserver::inline v0::runtime
