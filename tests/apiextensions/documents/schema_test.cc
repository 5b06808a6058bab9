// How schemas are published: upstream's tables, and schemas that mean harm.

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "apiextensions/documents/definitions.h"
#include "apiextensions/documents/documented_version.h"
#include "apiextensions/documents/published_schema.h"
#include "apiextensions/documents/recorded.h"
#include "apiserver/codec/json.h"

namespace {

using apiserver::apiextensions::AppendDefinitions;
using apiserver::apiextensions::AppendPublishedSchema;
using apiserver::apiextensions::DefinitionNameOf;
using apiserver::apiextensions::DocumentedVersion;
using apiserver::apiextensions::DocumentedVersionOf;
using apiserver::openapi::Format;
using apiserver::runtime::Arena;
using apiserver::runtime::Value;
using apiserver::testing::Recorded;
using apiserver::testing::Sorted;

std::string JsonTextOf(Value value) {
  std::string text;
  apiserver::codec::AppendJson(value, text);
  return Sorted(text);
}

std::string PublishedAs(Format format, const std::string& schema) {
  Arena arena;
  std::string text;
  AppendPublishedSchema(apiserver::codec::ParseJson(schema, arena).value(), format, {}, text);
  return Sorted(text);
}

// Returns the definition of a kind without the descriptions of what every kind has, as upstream's
// tests compare it.
std::string KindOf(const DocumentedVersion& documented, Format format) {
  std::string text = "{";
  AppendDefinitions(documented, format, text);
  text += "}";
  Arena arena;
  Value kind =
      apiserver::codec::ParseJson(text, arena)
          .value()[DefinitionNameOf(documented.group, documented.version, documented.kind)];
  Value properties = kind["properties"];
  for (const char* name : {"apiVersion", "kind", "metadata"}) {
    if (properties.is_null()) continue;
    properties = apiserver::runtime::With(
        properties, name, apiserver::runtime::Without(properties[name], "description", arena),
        arena);
    kind = apiserver::runtime::With(kind, "properties", properties, arena);
  }
  return JsonTextOf(kind);
}

}  // namespace

TEST_CASE("documents: upstream's tables of published schemas", "[apiextensions][documents]") {
  const Recorded rows = Recorded::Whole("crd-documents/tables.json");
  REQUIRE(rows.values().size() == 50);

  for (const Value& row : rows.values()) {
    INFO(row["from"].AsString() << ": " << row["name"].AsString());
    const Format format = row["form"].AsString() == "v2" ? Format::kV2 : Format::kV3;
    std::string got;
    if (row["from"].AsString() == "ConvertByType") {
      std::string text;
      AppendPublishedSchema(row["schema"], format, {}, text);
      got = Sorted(text);
    } else {
      got = KindOf({.group = "bar.k8s.io",
                    .version = "v1",
                    .plural = "foos",
                    .kind = "Foo",
                    .list_kind = "FooList",
                    .namespaced = true,
                    .schema = row["structural"].AsBool(true) ? row["schema"] : Value(),
                    .selectable_fields = row["selectableFields"]},
                   format);
    }

    CHECK(got == JsonTextOf(row["wanted"]));
  }
}

TEST_CASE("documents: what a schema does not say is not published", "[apiextensions][documents]") {
  CHECK(PublishedAs(Format::kV3,
                    R"({"type":"object","description":"","nullable":false,"uniqueItems":false,)"
                    R"("properties":{},"required":[],"enum":[],"default":null,"minLength":0,)"
                    R"("x-kubernetes-preserve-unknown-fields":false,"unknown":1})") ==
        R"({"minLength":0,"type":"object"})");
  CHECK(PublishedAs(Format::kV3, R"({"additionalProperties":false,"maximum":3,"maxItems":2.0})") ==
        R"({"additionalProperties":false,"maxItems":2,"maximum":3})");
}

// As Unfold of apiextensions-apiserver.
TEST_CASE("documents: v3 says which types an int-or-string has", "[apiextensions][documents]") {
  const std::string types = R"([{"type":"integer"},{"type":"string"}])";
  const std::string mark = R"("x-kubernetes-int-or-string":true})";

  CHECK(PublishedAs(Format::kV3, "{" + mark) == R"({"anyOf":)" + types + "," + mark);
  CHECK(PublishedAs(Format::kV3, R"({"anyOf":)" + types + "," + mark) ==
        R"({"anyOf":)" + types + "," + mark);
  CHECK(PublishedAs(Format::kV3, R"({"allOf":[{"anyOf":)" + types + "}]," + mark) ==
        R"({"allOf":[{"anyOf":)" + types + "}]," + mark);
  CHECK(PublishedAs(Format::kV3, R"({"anyOf":[{"minimum":1}],"allOf":[{"maximum":2}],)" + mark) ==
        R"({"allOf":[{"anyOf":)" + types + R"(},{"maximum":2}],"anyOf":[{"minimum":1}],)" + mark);
  CHECK(PublishedAs(Format::kV2, R"({"anyOf":[{"minimum":1}],)" + mark) == "{" + mark);
}

TEST_CASE("documents: an embedded resource has the fields of an object",
          "[apiextensions][documents]") {
  const std::string schema =
      R"({"type":"object","x-kubernetes-embedded-resource":true,"required":["kind","spec"],)"
      R"("properties":{"kind":{"type":"string","enum":["Pod"]},"spec":{"type":"object"}}})";

  Arena arena;
  const std::string text = PublishedAs(Format::kV3, schema);
  const Value published = apiserver::codec::ParseJson(text, arena).value();

  CHECK(JsonTextOf(published["required"]) == R"(["kind","spec","apiVersion"])");
  CHECK(published["properties"].size() == 4);
  CHECK(published["properties"]["kind"]["enum"].is_null());
  CHECK(published["properties"]["metadata"]["allOf"].at(0)["$ref"].AsString() ==
        "#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta");
  // With fields that nobody knows kubectl must not see any in v2.
  CHECK(PublishedAs(Format::kV2, R"({"type":"object","x-kubernetes-embedded-resource":true,)"
                                 R"("x-kubernetes-preserve-unknown-fields":true})") ==
        R"({"x-kubernetes-embedded-resource":true,"x-kubernetes-preserve-unknown-fields":true})");
}

TEST_CASE("documents: rules are published with what they say", "[apiextensions][documents]") {
  const std::string rules =
      R"({"x-kubernetes-validations":[{"fieldPath":".a","message":"m","messageExpression":"e",)"
      R"("optionalOldSelf":true,"reason":"FieldValueInvalid","rule":"self.a > 1"}]})";

  CHECK(PublishedAs(Format::kV3, rules) == Sorted(rules));
  CHECK(PublishedAs(Format::kV3, R"({"x-kubernetes-validations":[{"rule":"r","message":""}]})") ==
        R"({"x-kubernetes-validations":[{"rule":"r"}]})");
}

TEST_CASE("documents: a definition says of each version what it is", "[apiextensions][documents]") {
  Arena arena;
  const Value definition =
      apiserver::codec::ParseJson(
          R"({"spec":{"group":"a.example.com","scope":"Cluster","names":{"plural":"foos",)"
          R"("kind":"Foo"},"versions":[{"name":"v1"},{"name":"v2","subresources":{"scale":{}},)"
          R"("schema":{"openAPIV3Schema":{"type":"object"}}}]}})",
          arena)
          .value();

  const auto v1 = DocumentedVersionOf(definition, "v1");
  const auto v2 = DocumentedVersionOf(definition, "v2");

  REQUIRE(v1.has_value());
  CHECK(v1->schema.is_null());
  CHECK_FALSE(v1->scale);
  CHECK(v1->list_kind == "FooList");
  REQUIRE(v2.has_value());
  CHECK(v2->schema.is_map());
  CHECK(v2->scale);
  CHECK_FALSE(v2->status);
  CHECK_FALSE(v2->namespaced);
  CHECK_FALSE(DocumentedVersionOf(definition, "v3").has_value());
  CHECK(DocumentedVersionOf(definition, "v2", /*structural=*/false)->schema.is_null());
  CHECK(DefinitionNameOf("a.example.com", "v1", "Foo") == "com.example.a.v1.Foo");
}

TEST_CASE("documents: a schema of any depth and width is published without recursion",
          "[apiextensions][documents]") {
  constexpr int kDepth = 4'000;
  std::string deep;
  for (int i = 0; i < kDepth; ++i) deep += R"({"type":"array","items":)";
  deep += R"({"type":"string"})" + std::string(kDepth, '}');
  std::string wide = R"({"type":"object","properties":{)";
  std::string required;
  for (int i = 0; i < 20'000; ++i) {
    const std::string name = "\"p" + std::to_string(i) + "\"";
    if (i > 0) wide += ",";
    wide += name + R"(:{"type":"string","nullable":true})";
    required += (i > 0 ? "," : "") + name;
  }
  wide += R"(},"required":[)" + required + "]}";

  Arena arena;
  std::string v3;
  AppendPublishedSchema(apiserver::codec::ParseJson(deep, arena).value(), Format::kV3, {}, v3);
  std::string v2;
  AppendPublishedSchema(apiserver::codec::ParseJson(deep, arena).value(), Format::kV2, {}, v2);
  std::string flat;
  AppendPublishedSchema(apiserver::codec::ParseJson(wide, arena).value(), Format::kV2, {}, flat);

  CHECK(v3 == deep);
  // Readers of v2 recurse, so its depth is bounded; nobody's real schema is near.
  CHECK(v2.size() < 5'000);
  CHECK(v2.find("{}") != std::string::npos);
  CHECK(flat.find("required") == std::string::npos);
}
