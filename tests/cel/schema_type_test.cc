#include "apiserver/cel/schema_type.h"

#include <catch2/catch.hpp>
#include <string>
#include <utility>

#include "apiserver/runtime/schema.h"

namespace cel = apiserver::cel;
namespace runtime = apiserver::runtime;
using cel::Type;
using runtime::SchemaParts;
using runtime::SchemaPtr;
using runtime::SchemaType;
using runtime::StructBuilder;

namespace {

// Prints the type of a schema with all fields: "T{a: int, b: T.b{…}}". "none": there is no type.
std::string Print(const Type& type) {
  if (type.kind() == cel::TypeKind::kList) return "list(" + Print(type.parameter(0)) + ")";
  if (type.kind() == cel::TypeKind::kMap) {
    return "map(" + Print(type.parameter(0)) + ", " + Print(type.parameter(1)) + ")";
  }
  if (type.kind() != cel::TypeKind::kStruct) return type.ToString();
  std::string text = type.ToString() + "{";
  for (const cel::StructField& field : type.fields()) {
    if (text.back() != '{') text += ", ";
    text.append(field.name).append(": ").append(Print(field.type));
  }
  return text + "}";
}

std::string TypeOf(const SchemaPtr& schema, bool resource = false) {
  const SchemaPtr completed = cel::WithTypeAndObjectMeta(schema, resource);
  const std::optional<Type> type = cel::TypeOfSchema(*completed, "T");
  return type.has_value() ? Print(*type) : "none";
}

SchemaPtr StringOf(std::string format) {
  SchemaParts parts;
  parts.type = SchemaType::kString;
  parts.constraints.format = std::move(format);
  return runtime::MakeSchema(parts);
}

SchemaPtr Unknown() {
  SchemaParts parts;
  parts.preserve_unknown_fields = true;
  return runtime::MakeSchema(parts);
}

SchemaPtr Embedded(const SchemaPtr& schema) {
  SchemaParts parts(*schema);
  parts.embedded_resource = true;
  return runtime::MakeSchema(parts);
}

}  // namespace

TEST_CASE("cel: scalars of a schema have the types of the language", "[cel]") {
  CHECK(TypeOf(runtime::StringSchema()) == "string");
  CHECK(TypeOf(runtime::IntegerSchema(32)) == "int");
  CHECK(TypeOf(runtime::NumberSchema()) == "double");
  CHECK(TypeOf(runtime::BooleanSchema()) == "bool");
  CHECK(TypeOf(runtime::IntOrStringSchema()) == "dyn");
  CHECK(TypeOf(runtime::BytesSchema()) == "bytes");
  CHECK(TypeOf(runtime::TimeSchema()) == "timestamp");
  CHECK(TypeOf(runtime::QuantitySchema()) == "string");
  CHECK(TypeOf(runtime::DurationSchema()) == "string");
  CHECK(TypeOf(Unknown()) == "none");
}

TEST_CASE("cel: four formats of strings have types of their own", "[cel]") {
  CHECK(TypeOf(StringOf("byte")) == "bytes");
  CHECK(TypeOf(StringOf("date")) == "timestamp");
  CHECK(TypeOf(StringOf("date-time")) == "timestamp");
  CHECK(TypeOf(StringOf("duration")) == "duration");
  CHECK(TypeOf(StringOf("uuid")) == "string");
}

TEST_CASE("cel: objects become structs named after their place", "[cel]") {
  const SchemaPtr item = StructBuilder("").Field("x", runtime::IntegerSchema(64)).Build();
  const SchemaPtr schema = StructBuilder("")
                               .Field("list", runtime::ListOf(item))
                               .Field("map", runtime::MapOf(runtime::ListOf(item)))
                               .Field("empty", StructBuilder("").Build())
                               .Build();

  CHECK(TypeOf(schema) ==
        "T{empty: T.empty{}, list: list(T.list.@idx{x: int}), "
        "map: map(string, list(T.map.@elem.@idx{x: int}))}");
}

TEST_CASE("cel: properties that expressions cannot see have no fields", "[cel]") {
  const SchemaPtr schema = StructBuilder("")
                               .Field("a.b", runtime::StringSchema())
                               .Field("namespace", runtime::StringSchema())
                               .Field("0x", runtime::StringSchema())
                               .Field("free", Unknown())
                               .Field("list", runtime::ListOf(Unknown()))
                               .Field("map", runtime::MapOf(Unknown()))
                               .Field("open", runtime::MapOf(runtime::AnySchema()))
                               .Build();

  CHECK(TypeOf(schema) == "T{__namespace__: string, a__dot__b: string, open: T.open{}}");
}

TEST_CASE("cel: a resource shows its type, its name and no other metadata", "[cel]") {
  const SchemaPtr spec = StructBuilder("").Field("n", runtime::IntegerSchema(64)).Build();
  const SchemaPtr plain = StructBuilder("").Field("spec", spec).Build();
  const SchemaPtr typed = StructBuilder("")
                              .Field("kind", runtime::IntegerSchema(64))
                              .Field("metadata", runtime::ObjectMetaSchema())
                              .Build();
  const std::string all =
      "apiVersion: string, kind: string, metadata: T.metadata{generateName: string, name: string}";

  CHECK(TypeOf(plain, true) == "T{" + all + ", spec: T.spec{n: int}}");
  CHECK(TypeOf(plain) == "T{spec: T.spec{n: int}}");
  CHECK(TypeOf(typed, true) == "T{" + all + "}");
  CHECK(TypeOf(runtime::MapOf(runtime::AnySchema()), true) == "T{" + all + "}");
  CHECK(TypeOf(runtime::MapOf(runtime::StringSchema()), true) == "map(string, string)");
}

TEST_CASE("cel: a resource that declares its metadata keeps it", "[cel]") {
  const SchemaPtr schema = StructBuilder("")
                               .Field("kind", runtime::StringSchema())
                               .Field("apiVersion", runtime::StringSchema())
                               .Field("metadata", StructBuilder("")
                                                      .Field("name", runtime::StringSchema())
                                                      .Field("generateName", StringOf("x"))
                                                      .Field("uid", runtime::StringSchema())
                                                      .Build())
                               .Build();

  CHECK(cel::WithTypeAndObjectMeta(schema, true) == schema);
  CHECK(TypeOf(schema, true) ==
        "T{apiVersion: string, kind: string, "
        "metadata: T.metadata{generateName: string, name: string, uid: string}}");
}

TEST_CASE("cel: embedded resources are completed wherever they stand", "[cel]") {
  const SchemaPtr object = Embedded(StructBuilder("").Build());
  const SchemaPtr schema = StructBuilder("")
                               .Field("plain", runtime::StringSchema())
                               .Field("list", runtime::ListOf(object))
                               .Build();
  const SchemaPtr completed = cel::WithTypeAndObjectMeta(schema, false);

  CHECK(Print(*cel::TypeOfSchema(*completed, "T")) ==
        "T{list: list(T.list.@idx{apiVersion: string, kind: string, "
        "metadata: T.list.@idx.metadata{generateName: string, name: string}}), plain: string}");
  CHECK(completed->FindField("plain")->schema == schema->FindField("plain")->schema);
  CHECK(cel::WithTypeAndObjectMeta(completed, false) == completed);
}

TEST_CASE("cel: a deep schema is typed on constant stack", "[cel]") {
  SchemaPtr schema = Embedded(StructBuilder("").Build());
  for (int i = 0; i < 20'000; ++i) schema = runtime::ListOf(schema);

  const SchemaPtr completed = cel::WithTypeAndObjectMeta(schema, false);
  const std::optional<Type> type = cel::TypeOfSchema(*completed, "T");
  REQUIRE(type.has_value());
  CHECK(type->ToString().starts_with("list(list(list("));
}
