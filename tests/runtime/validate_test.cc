#include <catch2/catch.hpp>
#include <string>

#include "apiserver/runtime/kind.h"
#include "apiserver/runtime/object.h"
#include "apiserver/runtime/validate.h"
#include "runtime/text.h"

namespace apiserver::inline v0::runtime {
namespace {

using testing::ObjectOf;
using testing::Owned;
using testing::WidgetKind;
using testing::WithSpec;

// A copy of `schema` with something changed.
template <class Change>
SchemaPtr Changed(const SchemaPtr& schema, Change change) {
  SchemaParts copy(*schema);
  change(copy);
  return MakeSchema(copy);
}

// The findings about {"spec":{"f":value}}, where f is of `schema`.
std::string Findings(SchemaPtr schema, std::string_view value) {
  const SchemaPtr spec = StructBuilder("").Field("f", std::move(schema)).Build();
  const auto object = ObjectOf(WidgetKind(WithSpec(spec), Semantics::kCustomResource),
                               "{\"spec\":{\"f\":" + std::string(value) + "}}");
  return ValidateSchema(*object).Aggregate();
}

TEST_CASE("runtime: values of the wrong type are named as OpenAPI does", "[runtime]") {
  CHECK(Findings(IntegerSchema(64), "3").empty());
  CHECK(Findings(IntegerSchema(64), "3.0").empty());
  CHECK(Findings(NumberSchema(), "3").empty());
  CHECK(Findings(AnySchema(), "null").empty());
  CHECK(Findings(IntegerSchema(64), "\"x\"") ==
        R"(spec.f: Invalid value: "string": spec.f in body must be of type integer: "string")");
  CHECK(Findings(StringSchema(), "1") ==
        R"(spec.f: Invalid value: "integer": spec.f in body must be of type string: "integer")");
  CHECK(Findings(StringSchema(), "null") ==
        R"(spec.f: Invalid value: "null": spec.f in body must be of type string: "null")");
  CHECK(Findings(BooleanSchema(), "[]") ==
        R"(spec.f: Invalid value: "array": spec.f in body must be of type boolean: "array")");
  CHECK(Findings(ListOf(StringSchema()), "{}") ==
        R"(spec.f: Invalid value: "object": spec.f in body must be of type array: "object")");
  CHECK(Findings(MapOf(StringSchema()), "[]") ==
        R"(spec.f: Invalid value: "array": spec.f in body must be of type object: "array")");
  CHECK(Findings(IntegerSchema(32), "1.5") ==
        R"(spec.f: Invalid value: "number": spec.f in body must be of type integer: "number")");
  // As Kubernetes 1.35, which knows no format of integers.
  CHECK(Findings(IntegerSchema(32), "2147483648").empty());
  CHECK(Findings(IntOrStringSchema(), "\"50%\"").empty());
  CHECK(Findings(IntOrStringSchema(), "5").empty());
  CHECK_FALSE(Findings(IntOrStringSchema(), "true").empty());
  const SchemaPtr nullable = Changed(StringSchema(), [](SchemaParts& s) { s.nullable = true; });
  CHECK(Findings(nullable, "null").empty());
}

TEST_CASE("runtime: numbers are held against their bounds", "[runtime]") {
  const SchemaPtr bounded = Changed(IntegerSchema(32), [](SchemaParts& s) {
    s.constraints.minimum = 2;
    s.constraints.maximum = 10;
    s.constraints.multiple_of = 2;
  });
  CHECK(Findings(bounded, "2").empty());
  CHECK(Findings(bounded, "10").empty());
  CHECK(Findings(bounded, "12") ==
        "spec.f: Invalid value: 12: spec.f in body should be less than or equal to 10");
  CHECK(Findings(bounded, "0") ==
        "spec.f: Invalid value: 0: spec.f in body should be greater than or equal to 2");
  CHECK(Findings(bounded, "3") ==
        "spec.f: Invalid value: 3: spec.f in body should be a multiple of 2");
  const SchemaPtr open = Changed(NumberSchema(), [](SchemaParts& s) {
    s.constraints.minimum = 0.5;
    s.constraints.maximum = 1.5;
    s.constraints.exclusive_minimum = true;
    s.constraints.exclusive_maximum = true;
    s.constraints.multiple_of = 0.1;
  });
  CHECK(Findings(open, "0.7").empty());
  CHECK(Findings(open, "0.5") ==
        "spec.f: Invalid value: 0.5: spec.f in body should be greater than 0.5");
  CHECK(Findings(open, "1.5") ==
        "spec.f: Invalid value: 1.5: spec.f in body should be less than 1.5");
}

TEST_CASE("runtime: text is held against length, pattern and format", "[runtime]") {
  const SchemaPtr text = Changed(StringSchema(), [](SchemaParts& s) {
    s.constraints.min_length = 2;
    s.constraints.max_length = 4;
    s.constraints.pattern = "^[a-zäöü]+$";
  });
  CHECK(Findings(text, "\"äöüa\"").empty());
  CHECK(Findings(text, "\"abcde\"") == "spec.f: Too long: may not be more than 4 bytes");
  CHECK(Findings(text, "\"a\"") ==
        R"(spec.f: Invalid value: "a": spec.f in body should be at least 2 chars long)");
  CHECK(Findings(text, "\"ab1\"") ==
        R"(spec.f: Invalid value: "ab1": spec.f in body should match '^[a-zäöü]+$')");

  struct Row {
    const char* format;
    const char* right;
    const char* wrong;
  };
  constexpr Row kRows[] = {
      {"date-time", "\"2020-01-02T03:04:05Z\"", "\"2020-01-02\""},
      {"date", "\"2020-01-02\"", "\"2020-01-32\""},
      {"uuid", "\"123e4567-e89b-12d3-a456-426614174000\"", "\"123e4567\""},
      {"ipv4", "\"10.0.0.1\"", "\"10.0.0\""},
      {"ipv6", "\"::1\"", "\"10.0.0.1\""},
      {"cidr", "\"10.0.0.0/8\"", "\"10.0.0.0/33\""},
      {"mac", "\"00:11:22:aa:bb:cc\"", "\"00:11:22:aa:bb\""},
      {"byte", "\"YWI=\"", "\"YWI\""},
  };
  for (const Row& row : kRows) {
    CAPTURE(row.format);
    const SchemaPtr schema =
        Changed(StringSchema(), [&](SchemaParts& s) { s.constraints.format = row.format; });
    CHECK(Findings(schema, row.right).empty());
    CHECK(Findings(schema, row.wrong) == std::string("spec.f: Invalid value: ") + row.wrong +
                                             ": spec.f in body must be of type " + row.format +
                                             ": " + row.wrong);
  }
  const SchemaPtr odd =
      Changed(StringSchema(), [](SchemaParts& s) { s.constraints.format = "odd"; });
  CHECK(Findings(odd, "\"whatever\"").empty());
}

TEST_CASE("runtime: enums list what is supported", "[runtime]") {
  const SchemaPtr words = Changed(StringSchema(), [](SchemaParts& s) {
    s.constraints.enum_values = {Owned("\"a\""), Owned("\"b\"")};
  });
  CHECK(Findings(words, "\"b\"").empty());
  CHECK(Findings(words, "\"c\"") ==
        R"(spec.f: Unsupported value: "c": supported values: "a", "b")");
  const SchemaPtr numbers = Changed(NumberSchema(), [](SchemaParts& s) {
    s.constraints.enum_values = {Owned("1"), Owned("2.5")};
  });
  CHECK(Findings(numbers, "1.0").empty());
  CHECK(Findings(numbers, "3") == R"(spec.f: Unsupported value: 3: supported values: "1", "2.5")");
}

TEST_CASE("runtime: lists are held against size and uniqueness", "[runtime]") {
  const SchemaPtr list = Changed(ListOf(IntegerSchema(64)), [](SchemaParts& s) {
    s.constraints.min_items = 1;
    s.constraints.max_items = 2;
    s.constraints.unique_items = true;
  });
  CHECK(Findings(list, "[1,2]").empty());
  CHECK(Findings(list, "[]") ==
        "spec.f: Invalid value: 0: spec.f in body should have at least 1 items");
  CHECK(Findings(list, "[1,2,3]") == "spec.f: Too many: 3: must have at most 2 items");
  CHECK(Findings(list, "[1,1]") ==
        R"(spec.f: Invalid value: "": spec.f in body shouldn't contain duplicates)");
  CHECK(Findings(SetOf(StringSchema()), R"(["a","b","a","a"])") ==
        R"(spec.f[2]: Duplicate value: "a")");
  const SchemaPtr port =
      StructBuilder("").Field("port", IntegerSchema(64)).Field("name", StringSchema()).Build();
  CHECK(Findings(ListMapOf(port, {"port", "name"}),
                 R"([{"port":1,"name":"a"},{"port":1},{"name":"a","port":1}])") ==
        R"(spec.f[2]: Duplicate value: {"name":"a","port":1})");
}

TEST_CASE("runtime: objects are held against size and required fields", "[runtime]") {
  const SchemaPtr sized = Changed(MapOf(StringSchema()), [](SchemaParts& s) {
    s.constraints.min_properties = 1;
    s.constraints.max_properties = 2;
  });
  CHECK(Findings(sized, R"({"a":""})").empty());
  CHECK(Findings(sized, "{}") ==
        "spec.f: Invalid value: 0: spec.f in body should have at least 1 properties");
  CHECK(Findings(sized, R"({"a":"","b":"","c":""})") ==
        "spec.f: Too many: 3: must have at most 2 items");
  const SchemaPtr item =
      StructBuilder("").Field("size", IntegerSchema(32), {.required = true}).Build();
  CHECK(Findings(ListOf(item), R"([{"size":0},{}])") == "spec.f[1].size: Required value");
  CHECK(Findings(MapOf(item), R"({"k":{"size":"x"}})") ==
        R"(spec.f.k.size: Invalid value: "string": spec.f.k.size in body must be )"
        R"(of type integer: "string")");
}

TEST_CASE("runtime: all findings of an object are collected", "[runtime]") {
  const SchemaPtr schema = StructBuilder("")
                               .Field("metadata", ObjectMetaSchema())
                               .Field("spec", StringSchema(), {.required = true})
                               .Field("status", BooleanSchema())
                               .Build();
  const auto object =
      ObjectOf(WidgetKind(schema, Semantics::kCustomResource), R"({"metadata":7,"status":1})");
  const field::ErrorList errors = ValidateSchema(*object);
  REQUIRE(errors.size() == 2);
  CHECK(errors[0].field == "status");
  CHECK(errors[1].Message() == "spec: Required value");
}

// As Findings(), of a kind whose types decoding has checked.
std::string StructFindings(SchemaPtr schema, std::string_view value) {
  const SchemaPtr spec = StructBuilder("").Field("f", std::move(schema)).Build();
  const auto object =
      ObjectOf(WidgetKind(WithSpec(spec)), "{\"spec\":{\"f\":" + std::string(value) + "}}");
  return ValidateSchema(*object).Aggregate();
}

TEST_CASE("runtime: of a struct only what limits its values is checked", "[runtime]") {
  const SchemaPtr small =
      Changed(IntegerSchema(32), [](SchemaParts& s) { s.constraints.maximum = 3; });
  const std::string too_large =
      "Invalid value: 4: spec.f in body should be less than or equal to 3";
  CHECK(StructFindings(small, "3").empty());
  CHECK(StructFindings(small, "4") == "spec.f: " + too_large);
  const SchemaPtr port = StructBuilder("")
                             .Field("number", small, {.required = true})
                             .Field("name", StringSchema(), {.required = true})
                             .Build();
  CHECK(StructFindings(ListOf(port), R"([{"number":1,"name":"a"},{"number":4}])") ==
        "[spec.f[1].name: Required value, spec.f[1].number: Invalid value: 4: spec.f[1].number in "
        "body should be less than or equal to 3]");
  CHECK(StructFindings(SetOf(StringSchema()), R"(["a","a"])") ==
        R"(spec.f[1]: Duplicate value: "a")");
  // Go's nil, beside a field that is limited.
  CHECK(StructFindings(ListOf(small), "null").empty());
  CHECK(StructFindings(ListOf(StringSchema()), "null").empty());
}

TEST_CASE("runtime: a status is checked alone, and named from there", "[runtime]") {
  const SchemaPtr small =
      Changed(IntegerSchema(64), [](SchemaParts& s) { s.constraints.maximum = 3; });
  const SchemaPtr part = StructBuilder("").Field("f", small).Build();
  const SchemaPtr schema = StructBuilder("")
                               .Field("metadata", ObjectMetaSchema())
                               .Field("spec", part)
                               .Field("status", part)
                               .Build();
  const auto findings = [&](std::string_view json, SchemaPart checked) {
    const auto object = ObjectOf(WidgetKind(schema, Semantics::kCustomResource), json);
    return ValidateSchemaPart(*object, checked).Aggregate();
  };
  constexpr char kWrong[] = R"({"spec":{"f":4},"status":{"f":5}})";
  CHECK(findings(kWrong, SchemaPart::kNone).empty());
  CHECK(findings(kWrong, SchemaPart::kObject) ==
        "[spec.f: Invalid value: 4: spec.f in body should be less than or equal to 3, "
        "status.f: Invalid value: 5: status.f in body should be less than or equal to 3]");
  CHECK(findings(kWrong, SchemaPart::kStatus) ==
        "status.f: Invalid value: 5: f in body should be less than or equal to 3");
  CHECK(findings(R"({"status":"x"})", SchemaPart::kStatus) ==
        R"(status: Invalid value: "string":  in body must be of type object: "string")");
  CHECK(findings(R"({"spec":{"f":4}})", SchemaPart::kStatus).empty());
}

TEST_CASE("runtime: an update may keep what a set repeats, and nothing else wrong", "[runtime]") {
  const SchemaPtr spec = StructBuilder("")
                             .Field("names", SetOf(StringSchema()))
                             .Field("size", IntegerSchema(64))
                             .Build();
  const KindPtr kind = WidgetKind(WithSpec(spec), Semantics::kCustomResource);
  const auto findings = [&](std::string_view json, std::string_view old) {
    return ValidateSchemaPart(*ObjectOf(kind, json), *ObjectOf(kind, old), SchemaPart::kObject)
        .Aggregate();
  };
  constexpr char kTwice[] = R"({"spec":{"names":["a","a"]}})";
  CHECK(findings(kTwice, R"({"spec":{"names":["a"]}})") ==
        R"(spec.names[1]: Duplicate value: "a")");
  CHECK(findings(kTwice, kTwice).empty());
  constexpr char kWrong[] = R"({"spec":{"names":["a","a"],"size":"x"}})";
  constexpr char kRight[] = R"({"spec":{"names":["a","a"],"size":1}})";
  CHECK(findings(kWrong, kWrong).empty());
  CHECK(
      findings(kWrong, kRight) ==
      R"(spec.size: Invalid value: "string": spec.size in body must be of type integer: "string")");
  // Findings after the five hundredth are not in a list, and count all the same.
  std::string many = R"({"spec":{"names":["0")";
  for (int i = 0; i < 600; ++i) {
    many += ",\"" + std::to_string(i) + "\",\"" + std::to_string(i) + "\"";
  }
  many += R"(],"size":"x"}})";
  CHECK(
      findings(many, kRight) ==
      R"(spec.size: Invalid value: "string": spec.size in body must be of type integer: "string")");
}

}  // namespace
}  // namespace apiserver::inline v0::runtime
