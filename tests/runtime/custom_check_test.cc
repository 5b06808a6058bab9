#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "apiserver/runtime/kind.h"
#include "apiserver/runtime/object.h"
#include "apiserver/runtime/validate.h"
#include "runtime/text.h"

// The validation of custom resources where built-in kinds know no such thing: junctors, ratcheting,
// list maps. tests/codec/custom_objects_test.cc compares whole objects with Go's answers.
namespace apiserver::inline v0::runtime {
namespace {

using testing::ObjectOf;
using testing::WidgetKind;
using testing::WithSpec;

// The errors about {"spec": value}, in order, as the replacement of `old` if there is one.
std::vector<std::string> CustomErrors(const SchemaPtr& spec, std::string_view value,
                                      std::string_view old = "") {
  const KindPtr kind = WidgetKind(WithSpec(spec), Semantics::kCustomResource);
  const auto object = ObjectOf(kind, "{\"spec\":" + std::string(value) + "}");
  field::ErrorList errors;
  if (old.empty()) {
    errors = ValidateSchema(*object);
  } else {
    const auto before = ObjectOf(kind, "{\"spec\":" + std::string(old) + "}");
    errors = ValidateSchemaPart(*object, *before, SchemaPart::kObject);
  }
  std::vector<std::string> messages;
  for (const field::Error& error : errors) messages.push_back(error.Message());
  return messages;
}

SchemaPtr MadeOf(SchemaParts parts) { return MakeSchema(parts); }

SchemaPtr AtLeast(double minimum) {
  SchemaParts parts;
  parts.constraints.minimum = minimum;
  return MakeSchema(parts);
}

SchemaPtr Requiring(std::string name) {
  SchemaParts parts;
  parts.required_names = {std::move(name)};
  return MakeSchema(parts);
}

using Messages = std::vector<std::string>;

TEST_CASE("runtime: of anyOf one schema must hold, or the errors of the best are told",
          "[runtime]") {
  SchemaParts parts(*IntegerSchema(64));
  parts.any_of = {AtLeast(5), AtLeast(3)};
  const SchemaPtr schema = MakeSchema(parts);
  CHECK(CustomErrors(schema, "4").empty());
  CHECK(CustomErrors(schema, "1") ==
        Messages{R"(<nil>: Invalid value: "": "spec" must validate at least one schema (anyOf))",
                 "spec: Invalid value: 1: spec in body should be greater than or equal to 5"});
}

TEST_CASE("runtime: of oneOf exactly one schema must hold", "[runtime]") {
  SchemaParts parts(*IntegerSchema(64));
  parts.one_of = {AtLeast(5), AtLeast(3)};
  const SchemaPtr schema = MakeSchema(parts);
  CHECK(CustomErrors(schema, "3").empty());
  CHECK(CustomErrors(schema, "7") ==
        Messages{R"(<nil>: Invalid value: "": "spec" must validate one and only one schema )"
                 "(oneOf). Found 2 valid alternatives"});
  CHECK(CustomErrors(schema, "1") ==
        Messages{R"(<nil>: Invalid value: "": "spec" must validate one and only one schema )"
                 "(oneOf). Found none valid",
                 "spec: Invalid value: 1: spec in body should be greater than or equal to 5"});
}

TEST_CASE("runtime: all schemas of allOf must hold, and that of not must not", "[runtime]") {
  SchemaParts parts(*IntegerSchema(64));
  parts.all_of = {AtLeast(5), AtLeast(3)};
  CHECK(CustomErrors(MadeOf(parts), "5").empty());
  CHECK(CustomErrors(MadeOf(parts), "4") ==
        Messages{"spec: Invalid value: 4: spec in body should be greater than or equal to 5",
                 R"(<nil>: Invalid value: "": "spec" must validate all the schemas (allOf))"});
  CHECK(
      CustomErrors(MadeOf(parts), "1").back() ==
      R"(<nil>: Invalid value: "": "spec" must validate all the schemas (allOf). None validated)");
  SchemaParts inverted(*IntegerSchema(64));
  inverted.not_of = AtLeast(5);
  CHECK(CustomErrors(MadeOf(inverted), "4").empty());
  CHECK(CustomErrors(MadeOf(inverted), "5") ==
        Messages{R"(<nil>: Invalid value: "": "spec" must not validate the schema (not))"});
}

TEST_CASE("runtime: junctors reach into members and items", "[runtime]") {
  SchemaParts inner;
  inner.fields.push_back({.name = "a", .schema = AtLeast(2)});
  SchemaParts items;
  items.items = MakeSchema(inner);
  SchemaParts parts(*ListOf(StructBuilder("").Field("a", IntegerSchema(64)).Build()));
  parts.all_of = {MakeSchema(items)};
  CHECK(CustomErrors(MadeOf(parts), R"([{"a":2},{},{"a":1}])") ==
        Messages{"spec[2].a: Invalid value: 1: spec[2].a in body should be greater than or equal "
                 "to 2",
                 R"(<nil>: Invalid value: "": "spec" must validate all the schemas (allOf). )"
                 "None validated"});
  // What two schemas say in the same words is told once.
  SchemaParts twice(*StructBuilder("").Field("a", IntegerSchema(64)).Build());
  twice.all_of = {Requiring("a"), Requiring("a")};
  CHECK(CustomErrors(MadeOf(twice), "{}").size() == 2);
  CHECK(CustomErrors(MadeOf(twice), "{}").front() == "spec.a: Required value");
  // Null is no business of junctors.
  twice.nullable = true;
  CHECK(CustomErrors(MadeOf(twice), "null").empty());
}

TEST_CASE("runtime: of alternatives that fail the one with most matches is told", "[runtime]") {
  SchemaParts first;
  first.fields.push_back({.name = "a", .schema = AtLeast(9)});
  SchemaParts second = first;
  second.fields.push_back({.name = "b", .schema = AtLeast(0)});
  SchemaParts parts(
      *StructBuilder("").Field("a", IntegerSchema(64)).Field("b", IntegerSchema(64)).Build());
  second.fields[0].schema = AtLeast(8);
  parts.any_of = {MakeSchema(first), MakeSchema(second)};
  CHECK(CustomErrors(MadeOf(parts), R"({"a":1,"b":1})").back() ==
        "spec.a: Invalid value: 1: spec.a in body should be greater than or equal to 8");
  CHECK(CustomErrors(MadeOf(parts), R"({"a":1})").back() ==
        "spec.a: Invalid value: 1: spec.a in body should be greater than or equal to 9");
}

TEST_CASE("runtime: members that a schema closes out are forbidden", "[runtime]") {
  SchemaParts parts(*MapOf(AnySchema()));
  parts.closed = true;
  CHECK(CustomErrors(MadeOf(parts), "{}").empty());
  CHECK(CustomErrors(MadeOf(parts), R"({"b":1})") ==
        Messages{R"(spec: Invalid value: "b": spec.b in body is a forbidden property)"});
  SchemaParts open(*StructBuilder("").Field("a", StringSchema()).Build());
  open.members = IntegerSchema(64);
  CHECK(CustomErrors(MadeOf(open), R"({"a":"x","b":1})").empty());
  CHECK(CustomErrors(MadeOf(open), R"({"b":"x"})") ==
        Messages{R"(spec.b: Invalid value: "string": spec.b in body must be of type integer: )"
                 R"("string")"});
}

TEST_CASE("runtime: a large number is told as Go prints it", "[runtime]") {
  SchemaParts parts(*NumberSchema());
  parts.constraints.maximum = 1000000;
  CHECK(CustomErrors(MadeOf(parts), "2500000.5") ==
        Messages{"spec: Invalid value: 2.5000005e+06: spec in body should be less than or equal "
                 "to 1e+06"});
  parts.constraints.maximum = 0.00001;
  CHECK(CustomErrors(MadeOf(parts), "0.5") ==
        Messages{"spec: Invalid value: 0.5: spec in body should be less than or equal to 1e-05"});
  parts.constraints.maximum.reset();
  parts.constraints.multiple_of = 0.5;
  CHECK(CustomErrors(MadeOf(parts), "3") ==
        Messages{"spec: Invalid value: 0: factor MultipleOf declared for spec must be positive: "
                 "0"});
}

TEST_CASE("runtime: a small number in a list is told as JSON has it", "[runtime]") {
  SchemaParts parts;
  parts.preserve_unknown_fields = true;
  parts.constraints.enum_values = {1};
  CHECK(CustomErrors(MadeOf(parts), "[0.00000015,0.000001,0]") ==
        Messages{R"(spec: Unsupported value: [1.5e-7,0.000001,0]: supported values: "1")"});
}

TEST_CASE("runtime: an enum takes what Go converts to an entry", "[runtime]") {
  SchemaParts parts(*NumberSchema());
  parts.constraints.enum_values = {1, 2.5};
  CHECK(CustomErrors(MadeOf(parts), "1.0").empty());
  CHECK(CustomErrors(MadeOf(parts), "1.7").empty());
  CHECK(CustomErrors(MadeOf(parts), "2").front().starts_with("spec: Unsupported value: 2"));
  SchemaParts text(*IntOrStringSchema());
  text.constraints.enum_values = {"a"};
  CHECK(CustomErrors(MadeOf(text), "97").empty());
  CHECK_FALSE(CustomErrors(MadeOf(text), "98").empty());
  text.nullable = true;
  text.constraints.enum_values.emplace_back(Value());
  CHECK_FALSE(CustomErrors(MadeOf(text), "null").empty());
}

// A schema of objects whose field `a` is at least 5, in maps and list maps.
SchemaPtr Ratcheted() {
  SchemaParts five(*IntegerSchema(64));
  five.constraints.minimum = 5;
  const SchemaPtr item =
      StructBuilder("").Field("k", StringSchema()).Field("a", MakeSchema(five)).Build();
  SchemaParts odd(*IntegerSchema(64));
  odd.not_of = AtLeast(9);
  return StructBuilder("")
      .Field("a", MakeSchema(five))
      .Field("b", MakeSchema(five))
      .Field("map", MapOf(item))
      .Field("list", ListMapOf(item, {"k"}))
      .Field("plain", ListOf(item))
      .Field("odd", MakeSchema(odd))
      .Build();
}

TEST_CASE("runtime: an update may leave wrong values as they are", "[runtime]") {
  const auto errors = [](std::string_view value, std::string_view old) {
    Messages fields;
    for (const std::string& message : CustomErrors(Ratcheted(), value, old)) {
      fields.push_back(message.substr(0, message.find(':')));
    }
    return fields;
  };
  CHECK(errors(R"({"a":1,"b":6})", R"({"a":1,"b":7})").empty());
  CHECK(errors(R"({"a":1,"b":2})", R"({"a":1,"b":7})") == Messages{"spec.b"});
  CHECK(errors(R"({"a":1})", R"({"a":2})") == Messages{"spec.a"});
  CHECK(errors(R"({"a":1})", R"({"a":1.0})") == Messages{"spec.a"});
  CHECK(errors(R"({"map":{"x":{"a":1},"y":{"a":1}}})", R"({"map":{"x":{"a":1}}})") ==
        Messages{"spec.map.y.a"});
  // Items of a list map are found by their keys, wherever they stand.
  CHECK(errors(R"({"list":[{"k":"y","a":7},{"k":"x","a":1}]})",
               R"({"list":[{"k":"x","a":1},{"k":"y","a":6}]})")
            .empty());
  CHECK(errors(R"({"list":[{"k":"x","a":1}]})", R"({"list":[{"k":"y","a":1}]})") ==
        Messages{"spec.list[0].a"});
  // A plain list is taken as a whole.
  CHECK(errors(R"({"plain":[{"a":1}]})", R"({"plain":[{"a":1}]})").empty());
  CHECK(errors(R"({"plain":[{"a":1},{}]})", R"({"plain":[{"a":1}]})") ==
        Messages{"spec.plain[0].a"});
  CHECK(errors(R"({"odd":9,"b":5})", R"({"odd":9})").empty());
  CHECK(errors(R"({"odd":10})", R"({"odd":9})") == Messages{"<nil>"});
}

TEST_CASE("runtime: items of sets and list maps are told apart as Go does", "[runtime]") {
  const SchemaPtr item =
      StructBuilder("").Field("k", IntOrStringSchema()).Field("l", IntOrStringSchema()).Build();
  const auto list = [&](std::vector<std::string> keys, std::string_view value) {
    return CustomErrors(ListMapOf(item, std::move(keys)), value);
  };
  CHECK(list({"k"}, R"([{"k":1},{"k":1.0},{"k":"1"}])").empty());
  CHECK(list({"k"}, R"([{"k":1},{"k":1},{"k":1}])") ==
        Messages{R"(spec[1]: Duplicate value: {"k":1})"});
  CHECK(list({"k"}, "[{},{}]") == Messages{"spec[1]: Duplicate value: {}"});
  CHECK(list({"l", "k"}, R"([{"k":1,"l":2},{"l":2,"k":1}])") ==
        Messages{R"(spec[1]: Duplicate value: {"k":1,"l":2})"});
  CHECK(list({"l", "k"}, R"([{"k":1},{"k":1.0}])").size() == 1);
  CHECK(list({"k"}, "[{},7]").back() ==
        "spec[1]: Invalid value: 7: must be an object for an array of list-type map");
  CHECK(CustomErrors(MapOf(SetOf(IntegerSchema(64))), R"({"x":[1,2,1]})") ==
        Messages{"spec[x][2]: Duplicate value: 1"});
}

TEST_CASE("runtime: a schema whose checks would never end is given up", "[runtime]") {
  SchemaParts parts;
  parts.type = SchemaType::kAny;
  parts.preserve_unknown_fields = true;
  SchemaPtr schema = MakeSchema(parts);
  for (int i = 0; i < 40; ++i) {
    SchemaParts outer = parts;
    outer.not_of = AtLeast(1);
    outer.all_of = {schema, schema};
    schema = MakeSchema(outer);
  }
  const Messages errors = CustomErrors(schema, "7");
  REQUIRE_FALSE(errors.empty());
  CHECK(errors.back() ==
        "<nil>: Internal error: the object and its schema are too large together to be validated");
}

TEST_CASE("runtime: deep objects and many errors are validated without recursion", "[runtime]") {
  SchemaPtr schema = IntegerSchema(64);
  std::string value = "\"x\"";
  for (int i = 0; i < 20'000; ++i) schema = ListOf(schema);
  value = std::string(20'000, '[') + value + std::string(20'000, ']');
  CHECK(CustomErrors(schema, value).size() == 1);
  std::string many = "[0";
  for (int i = 0; i < 30'000; ++i) many += ",\"x\"";
  CHECK(CustomErrors(ListOf(IntegerSchema(64)), many + "]").size() <= field::kErrorsMax);
}

}  // namespace
}  // namespace apiserver::inline v0::runtime
