#include <catch2/catch.hpp>
#include <string>
#include <utility>

#include "apiserver/runtime/kind.h"
#include "apiserver/runtime/object.h"
#include "apiserver/runtime/schema.h"
#include "runtime/text.h"

namespace apiserver::inline v0::runtime {
namespace {

using testing::ObjectOf;
using testing::WidgetKind;
using testing::WithSpec;

// The findings about {"spec":{"f":value}}, where f is a field of `schema` with `options`; or why
// there can be no such kind.
std::string FindingsOf(SchemaPtr schema, StructBuilder::Options options, std::string_view value,
                       Semantics semantics = Semantics::kCustomResource) {
  const SchemaPtr spec =
      StructBuilder("").Field("f", std::move(schema), std::move(options)).Build();
  auto kind = Kind::New({.group = "example.com",
                         .kind = "Widget",
                         .plural = "widgets",
                         .semantics = semantics,
                         .versions = {{.version = "v1", .schema = WithSpec(spec)}}});
  if (!kind.ok()) return std::string(kind.status().message());
  const auto object = ObjectOf(*kind, "{\"spec\":{\"f\":" + std::string(value) + "}}");
  return ValidateSchema(*object).Aggregate();
}

TEST_CASE("runtime: a field of a builder bounds its number", "[runtime]") {
  const SchemaPtr integer = IntegerSchema(32);
  CHECK(FindingsOf(integer, {.minimum = 1}, "1").empty());
  CHECK(FindingsOf(integer, {.minimum = 1}, "0") ==
        "spec.f: Invalid value: 0: spec.f in body should be greater than or equal to 1");
  CHECK(FindingsOf(integer, {.maximum = 9}, "10") ==
        "spec.f: Invalid value: 10: spec.f in body should be less than or equal to 9");
  CHECK(FindingsOf(integer, {.minimum = 1, .exclusive_minimum = true}, "1") ==
        "spec.f: Invalid value: 1: spec.f in body should be greater than 1");
  CHECK(FindingsOf(integer, {.maximum = 9, .exclusive_maximum = true}, "9") ==
        "spec.f: Invalid value: 9: spec.f in body should be less than 9");
  CHECK(FindingsOf(NumberSchema(), {.multiple_of = 0.5}, "0.75") ==
        "spec.f: Invalid value: 0.75: spec.f in body should be a multiple of 0.5");
}

TEST_CASE("runtime: a field of a builder bounds its text", "[runtime]") {
  const SchemaPtr text = StringSchema();
  CHECK(FindingsOf(text, {.one_of = {"cat", "dog"}}, "\"dog\"").empty());
  CHECK(FindingsOf(text, {.one_of = {"cat", "dog"}}, "\"cow\"") ==
        R"(spec.f: Unsupported value: "cow": supported values: "cat", "dog")");
  CHECK(FindingsOf(text, {.pattern = "^[a-z]+$"}, "\"A\"") ==
        R"(spec.f: Invalid value: "A": spec.f in body should match '^[a-z]+$')");
  CHECK(FindingsOf(text, {.min_length = 2}, "\"ä\"") ==
        R"(spec.f: Invalid value: "ä": spec.f in body should be at least 2 chars long)");
  CHECK(FindingsOf(text, {.max_length = 1}, "\"ä\"").empty());
  CHECK(FindingsOf(text, {.max_length = 1}, "\"ab\"") ==
        "spec.f: Too long: may not be more than 1 byte");
  CHECK(FindingsOf(text, {.format = "uuid"}, "\"x\"") ==
        R"(spec.f: Invalid value: "x": spec.f in body must be of type uuid: "x")");
}

TEST_CASE("runtime: a field of a builder bounds its list or map", "[runtime]") {
  const SchemaPtr list = ListOf(IntegerSchema(64));
  CHECK(FindingsOf(list, {.min_items = 1}, "[]") ==
        "spec.f: Invalid value: 0: spec.f in body should have at least 1 items");
  CHECK(FindingsOf(list, {.max_items = 1}, "[1,2]") ==
        "spec.f: Too many: 2: must have at most 1 item");
  CHECK(FindingsOf(list, {.unique_items = true}, "[1,1]") ==
        "spec.f: Invalid value: \"\": spec.f in body shouldn't contain duplicates");
  const SchemaPtr map = MapOf(IntegerSchema(64));
  CHECK(FindingsOf(map, {.min_properties = 1}, "{}") ==
        "spec.f: Invalid value: 0: spec.f in body should have at least 1 properties");
  CHECK(FindingsOf(map, {.max_properties = 1}, R"({"a":1,"b":2})") ==
        "spec.f: Too many: 2: must have at most 1 item");
}

TEST_CASE("runtime: a literal is a default, and an allowed value", "[runtime]") {
  const SchemaPtr schema = StructBuilder("")
                               .Field("i", IntegerSchema(64), {.default_value = 7})
                               .Field("d", NumberSchema(), {.default_value = 0.5})
                               .Field("b", BooleanSchema(), {.default_value = true})
                               .Field("s", StringSchema(), {.default_value = "text"})
                               .Field("e", IntegerSchema(64), {.one_of = {1, 2}})
                               .Build();
  CHECK(schema->FindField("i")->default_value()->AsInt() == 7);
  CHECK(schema->FindField("d")->default_value()->AsDouble() == 0.5);
  CHECK(schema->FindField("b")->default_value()->type() == Value::Type::kBool);
  CHECK(schema->FindField("b")->default_value()->AsBool());
  CHECK(schema->FindField("s")->default_value()->AsString() == "text");
  CHECK(schema->FindField("e")->schema->constraints().enum_values()[1].AsInt() == 2);
}

TEST_CASE("runtime: constraints are of the field alone, and keep what its type has", "[runtime]") {
  const SchemaPtr named =
      StructBuilder("com.example.Part", "A part.").Field("a", StringSchema()).Build();
  const SchemaPtr outer = StructBuilder("")
                              .Field("bounded", named, {.min_properties = 1})
                              .Field("free", named)
                              .Field("small", IntegerSchema(32), {.minimum = 1})
                              .Build();
  const Schema& bounded = *outer->FindField("bounded")->schema;
  CHECK(bounded.name().empty());  // Another definition than com.example.Part.
  CHECK(bounded.description() == "A part.");
  CHECK(bounded.FindField("a") != nullptr);
  CHECK(bounded.constraints().min_properties() == 1);
  CHECK(outer->FindField("free")->schema == named);
  CHECK(outer->FindField("small")->schema->bits == 32);
  CHECK(outer->FindField("small")->schema->constraints().format() == "int32");
  CHECK_FALSE(IntegerSchema(32)->constraints().minimum().has_value());
}

TEST_CASE("runtime: a constraint that constrains nothing is refused in a Go type", "[runtime]") {
  const auto refused = [](SchemaPtr schema, StructBuilder::Options options) {
    return FindingsOf(std::move(schema), std::move(options), "null", Semantics::kGoType);
  };
  const std::string nothing = "kind \"Widget\": v1.spec.f: ";
  CHECK(refused(StringSchema(), {.minimum = 1}) == nothing + "minimum constrains nothing here");
  CHECK(refused(IntegerSchema(32), {.max_length = 1, .pattern = "x"}) ==
        nothing + "maxLength constrains nothing here; v1.spec.f: pattern constrains nothing here");
  CHECK(refused(MapOf(StringSchema()), {.max_items = 1}) ==
        nothing + "maxItems constrains nothing here");
  CHECK(refused(ListOf(StringSchema()), {.min_properties = 1}) ==
        nothing + "minProperties constrains nothing here");
  CHECK(refused(IntegerSchema(32), {.exclusive_minimum = true}) ==
        nothing + "exclusiveMinimum constrains nothing here");
  CHECK(refused(QuantitySchema(), {.pattern = "^1"}).empty());
  CHECK(refused(IntOrStringSchema(), {.minimum = 1, .max_length = 4}).empty());
}

}  // namespace
}  // namespace apiserver::inline v0::runtime
