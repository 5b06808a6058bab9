#include <catch2/catch.hpp>
#include <string>

#include "apiserver/codec/json.h"
#include "apiserver/patch/apply/updater.h"
#include "patch/apply/apply_types.h"

// What hostile input may cost, and what it is told.
namespace apiserver::inline v0 {
namespace {

using namespace patch::apply;  // NOLINT: all of it is used.
using runtime::Arena;
using runtime::Value;

Value ParseObject(const std::string& json, Arena& arena) {
  const auto value = codec::ParseJson(arena.Copy(json), arena);
  REQUIRE(value.ok());
  return *value;
}

std::string NestedObject(std::size_t depth) {
  std::string json;
  for (std::size_t i = 0; i < depth; ++i) json += "{\"a\":";
  return json + "1" + std::string(depth, '}');
}

std::string Containers(int count, const std::string& more) {
  std::string json = "{\"spec\":{\"containers\":[";
  for (int i = 0; i < count; ++i) {
    if (i != 0) json += ',';
    json += "{\"name\":\"c" + std::to_string(i * 7919 % count) + "\"" + more + "}";
  }
  return json + "]}}";
}

Result<Updater::Applied> ApplyTo(Value live, Value config, const ParseableType& type,
                                 Arena& arena) {
  const testing::OneTypeConverter converter(type);
  return Updater(converter).Apply(TypedValue(live, type), TypedValue(config, type),
                                  {.version = "v1", .managers = {}, .manager = "m"}, arena);
}

TEST_CASE("patch.apply: what is nested too deeply is refused, not walked", "[patch.apply]") {
  Arena arena;
  const ParseableType type;
  const Value deep = ParseObject(NestedObject(9000), arena);
  const auto applied = ApplyTo({}, deep, type, arena);
  CHECK(applied.status().message() == "failed to get field set: exceeded max depth");
  const auto both = ApplyTo(deep, deep, type, arena);
  CHECK(both.status().message() == "failed to merge config: exceeded max depth");
  const Value other = ParseObject(NestedObject(9001), arena);
  const auto changes = TypedValue(deep, type).Compare(TypedValue(other, type), arena);
  CHECK(changes.status().message() == "exceeded max depth");
  CHECK(ValuesEqual(deep, ParseObject(NestedObject(9000), arena)));
  CHECK(ApplyTo({}, ParseObject(NestedObject(FieldSet::kDepthMax), arena), type, arena).ok());
}

TEST_CASE("patch.apply: lists of many items are merged in time near their length",
          "[patch.apply]") {
  Arena arena;
  const ParseableType type(testing::ApplySchema());
  const Value live = ParseObject(Containers(30'000, ",\"image\":\"a\""), arena);
  const Value config = ParseObject(Containers(29'999, ",\"image\":\"b\""), arena);
  REQUIRE(AsTyped(config, type).ok());
  const auto applied = ApplyTo(live, config, type, arena);
  REQUIRE(applied.ok());
  CHECK(applied->object.value()["spec"]["containers"].size() == 30'000);
}

TEST_CASE("patch.apply: errors of many items are cut off", "[patch.apply]") {
  Arena arena;
  const ParseableType type(testing::ApplySchema());
  const Value config = ParseObject(Containers(30'000, ",\"image\":1"), arena);
  const auto typed = AsTyped(config, type);
  CHECK_FALSE(typed.ok());
  CHECK(typed.status().message().size() < 200'000);
  const std::string name(1'000'000, 'x');
  const auto longer =
      AsTyped(ParseObject("{\"spec\":{\"replicas\":\"" + name + "\"}}", arena), type).status();
  CHECK(longer.message() == ".spec.replicas: expected numeric (int or float), got string");
  const auto text =
      AsTyped(ParseObject("{\"spec\":{\"containers\":\"" + name + "\"}}", arena), type).status();
  CHECK(text.message().size() < 20'000);
}

TEST_CASE("patch.apply: items that cannot be told apart are named", "[patch.apply]") {
  Arena arena;
  const ParseableType type(testing::ApplySchema());
  const auto error = [&](const std::string& spec) {
    return std::string(
        AsTyped(ParseObject("{\"spec\":" + spec + "}", arena), type).status().message());
  };
  CHECK(error(R"({"containers":[{"name":"a"},{"name":"a"}]})") ==
        R"(.spec.containers: duplicate entries for key [name="a"])");
  CHECK(error(R"({"containers":[{"image":"a"}]})") ==
        ".spec.containers: element 0: associative list with keys has an element that omits all key "
        "fields [\"name\"] (and doesn't have default values for any key fields)");
  CHECK(
      error(R"({"containers":[{"name":"a","ports":[{"port":1},{"port":1,"protocol":"TCP"}]}]})") ==
      R"(.spec.containers[name="a"].ports: duplicate entries for key [port=1,protocol="TCP"])");
  CHECK(error(R"({"containers":[null]})") ==
        ".spec.containers: element 0: associative list with keys may not have a null element");
  CHECK(error(R"({"set":["a","b","a"]})") == R"(.spec.set: duplicate entries for key [="a"])");
  CHECK(error(R"({"set":[["a"]]})") ==
        ".spec.set: element 0: not supported: associative list with lists as elements");
  CHECK(error(R"({"unknown":1})") == ".spec.unknown: field not declared in schema");
}

// The one type that contains itself, as deep as a value may be.
TEST_CASE("patch.apply: schemas of definitions are checked at all depths", "[patch.apply]") {
  runtime::SchemaParts any;
  any.name = "com.example.JSONSchemaProps";
  any.proto_message = true;
  const ParseableType type(
      runtime::StructBuilder("Root").Field("schema", runtime::MakeSchema(any)).Build());
  Arena arena;
  const auto error = [&](const std::string& schema) {
    return std::string(
        AsTyped(ParseObject("{\"schema\":" + schema + "}", arena), type).status().message());
  };
  CHECK(error(R"({"type":"object","default":{"x":1},"items":[5],"enum":[{}],"maximum":1.5,
      "dependencies":{"a":["b"]},"x-kubernetes-validations":[{"rule":"true"}]})")
            .empty());
  CHECK(error(R"({"properties":{"a":{"not":{"extra":1}}}})") ==
        ".schema.properties.a.not.extra: field not declared in schema");
  CHECK(error(R"({"oneOf":[{"maxLength":"x"}]})") ==
        ".schema.oneOf[0].maxLength: expected numeric (int or float), got string");
  CHECK(error(R"({"x-kubernetes-validations":[{"rule":"a"},{"rule":"a"}]})") ==
        R"(.schema.x-kubernetes-validations: duplicate entries for key [rule="a"])");
  std::string deep;
  for (int i = 0; i < 9000; ++i) deep += R"({"not":)";
  CHECK(error(deep + "5" + std::string(9000, '}')).empty());
}

TEST_CASE("patch.apply: keys that contradict the items are refused or told apart",
          "[patch.apply]") {
  using namespace runtime;  // NOLINT: a list of builders.
  Arena arena;
  const SchemaPtr item = StructBuilder("Item").Field("name", StringSchema()).Build();
  const auto list_of = [](SchemaPtr items, std::vector<std::string> keys) {
    return ParseableType(
        StructBuilder("Root").Field("list", ListMapOf(std::move(items), std::move(keys))).Build());
  };
  const auto error = [&](const ParseableType& type, const std::string& list) {
    return std::string(
        AsTyped(ParseObject("{\"list\":" + list + "}", arena), type).status().message());
  };
  // The same key twice is that key; one that items do not have is never there.
  CHECK(error(list_of(item, {"name", "name"}), R"([{"name":"a"},{"name":"b"}])").empty());
  CHECK(error(list_of(item, {"gone"}), R"([{"name":"a"}])") ==
        ".list: element 0: associative list with keys has an element that omits all key fields "
        "[\"gone\"] (and doesn't have default values for any key fields)");
  CHECK(error(list_of(StringSchema(), {"name"}), R"(["a"])") ==
        ".list: element 0: associative list with keys may not have non-map elements");
  CHECK(error(list_of(StringSchema(), {"name"}), R"([{}])") ==
        ".list: element 0: couldn't find default value for name: associative list may not have "
        "non-map types");
  CHECK(error(list_of(nullptr, {}), R"([{"name":"a"}])") ==
        ".list: element 0: associative list without keys has an element that's a map type");
}

TEST_CASE("patch.apply: raw JSON and bytes are what they say", "[patch.apply]") {
  Arena arena;
  CHECK(ValuesEqual(Value::Raw(R"({"a": [1,2.0]})"), ParseObject(R"({"a":[1.0,2]})", arena)));
  CHECK_FALSE(ValuesEqual(Value::Raw(R"({"a":1})"), ParseObject(R"({"a":2})", arena)));
  CHECK(ValuesEqual(Value::Bytes("abc"), Value::String("YWJj")));
  CHECK(ValuesEqual(Value::Int(1), Value::Double(1)));
  CHECK_FALSE(ValuesEqual(ParseObject("{}", arena), Value()));
}

TEST_CASE("patch.apply: a kind without a schema takes whatever is applied", "[patch.apply]") {
  Arena arena;
  const ParseableType type;
  const Value config = ParseObject(R"({"a":{"b":[{"c":1}],"d":null},"e":1.5,"f":{}})", arena);
  const auto applied = ApplyTo({}, config, type, arena);
  REQUIRE(applied.ok());
  std::string json;
  AppendFieldsV1(applied->managers.at("m").set, json);
  CHECK(json == R"({"f:a":{".":{},"f:b":{},"f:d":{}},"f:e":{},"f:f":{}})");
  CHECK(ApplyTo(ParseObject("[1]", arena), Value::String("x"), type, arena).ok());
}

}  // namespace
}  // namespace apiserver::inline v0
