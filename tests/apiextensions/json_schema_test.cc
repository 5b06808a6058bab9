#include "apiextensions/schema/json_schema.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "apiserver/codec/json.h"

namespace {

using namespace apiserver;
using runtime::Value;

// A schema that was normalized, and what was said about it.
struct Shaped {
  std::string json;
  std::string error;
  std::vector<std::string> unknown;
};

constexpr const char* kPlace = "spec.versions[0].schema";

Shaped Shape(const std::string& json) {
  runtime::Arena arena;
  Result<Value> schema = codec::ParseJson(json, arena);
  INFO(json);
  REQUIRE(schema.ok());
  Shaped shaped;
  std::vector<runtime::UnknownMember> unknown;
  runtime::FindUnknownInJsonSchema(*schema, kPlace, unknown);
  const Status status = apiextensions::NormalizeJsonSchema(*schema, kPlace, arena);
  shaped.error = status.message();
  for (const runtime::UnknownMember& member : unknown) shaped.unknown.push_back(member.path);
  if (status.ok()) codec::AppendJson(*schema, shaped.json);
  return shaped;
}

// TestJSONSchemaPropsOrBool…, TestJSONSchemaPropsOrArray… of v1/marshal_test.go, and Go's rules of
// omitempty.
TEST_CASE("apiextensions: schemas are written as Go writes JSONSchemaProps") {
  const std::pair<const char*, const char*> rows[] = {
      {"{}", "{}"},
      {R"({"type":"object","description":"d","id":""})", R"({"description":"d","type":"object"})"},
      {R"({"nullable":false,"uniqueItems":true,"exclusiveMinimum":false})",
       R"({"uniqueItems":true})"},
      {R"({"x-kubernetes-preserve-unknown-fields":false})",
       R"({"x-kubernetes-preserve-unknown-fields":false})"},
      {R"({"$ref":"","x-kubernetes-list-type":""})", R"({"$ref":"","x-kubernetes-list-type":""})"},
      {R"({"maximum":1.0,"minimum":-2,"maxLength":0,"multipleOf":0.5})",
       R"({"maximum":1,"minimum":-2,"maxLength":0,"multipleOf":0.5})"},
      {R"({"default":null,"example":{"b":1,"a":null},"enum":[null,1,"x"]})",
       R"({"enum":[null,1,"x"],"example":{"a":null,"b":1}})"},
      {R"({"default":{"z":1,"a":[]}})", R"({"default":{"a":[],"z":1}})"},
      {R"({"required":["a",null],"enum":[],"allOf":[]})", R"({"required":["a",""]})"},
      {R"({"items":{"type":"string","odd":1}})", R"({"items":{"type":"string"}})"},
      {R"({"items":[{"title":""},null]})", R"({"items":[{},{}]})"},
      {R"({"items":null,"not":null})", "{}"},
      {R"({"items":5})", "{}"},
      {R"({"additionalProperties":true,"additionalItems":false})",
       R"({"additionalProperties":true,"additionalItems":false})"},
      {R"({"additionalProperties":{"type":"string","id":""}})",
       R"({"additionalProperties":{"type":"string"}})"},
      {R"({"properties":{"b":{"type":"string"},"a":null},"patternProperties":{}})",
       R"({"properties":{"a":{},"b":{"type":"string"}}})"},
      {R"({"dependencies":{"b":["x"],"a":{"title":"t"}},"definitions":{"d":{}}})",
       R"({"dependencies":{"a":{"title":"t"},"b":["x"]},"definitions":{"d":{}}})"},
      {R"({"dependencies":{"a":5,"b":"x"}})", R"({"dependencies":{"a":{},"b":{}}})"},
      {R"({"externalDocs":{"url":"u","description":""}})", R"({"externalDocs":{"url":"u"}})"},
      {R"({"x-kubernetes-validations":[{"message":"m","rule":"r","optionalOldSelf":false},{}]})",
       R"({"x-kubernetes-validations":[{"rule":"r","message":"m","optionalOldSelf":false},)"
       R"({"rule":""}]})"},
      {R"({"not":{"anyOf":[{"type":"a"}],"oneOf":[{"format":""}]}})",
       R"({"not":{"oneOf":[{}],"anyOf":[{"type":"a"}]}})"}};
  for (const auto& [given, written] : rows) {
    const Shaped shaped = Shape(given);
    INFO(given << ": " << shaped.error);
    CHECK(shaped.json == written);
    // What is normalized stays as it is.
    CHECK(Shape(shaped.json).json == shaped.json);
  }
}

// Returns the schema, which is normalized; `keeps` tells if the property is the one that it was.
std::string ShapeWithProperty(const std::string& json, std::string_view property, bool& keeps) {
  runtime::Arena arena;
  Value schema = codec::ParseJson(json, arena).value();
  const Value before = schema["properties"][property];
  REQUIRE(apiextensions::NormalizeJsonSchema(schema, kPlace, arena).ok());
  const Value after = schema["properties"][property];
  keeps = after.members().data() == before.members().data();
  std::string text;
  codec::AppendJson(schema, text);
  return text;
}

TEST_CASE("apiextensions: parts of schemas that are as Go writes them are not written anew") {
  const std::string kept[] = {
      R"({"description":"d","type":"object","properties":{"a":{"type":"string"},"b":{}}})",
      R"({"default":{},"enum":[1,"x",null],"required":["a"],"nullable":true})",
      R"({"type":"array","items":{"type":"string"},"x-kubernetes-list-type":"set"})",
      R"({"anyOf":[{"type":"string"},{}],"not":{"format":"f"},"additionalProperties":false})",
      R"({"maxLength":3,"dependencies":{"a":["b"],"c":{}},"x-kubernetes-validations":)"
      R"([{"rule":"r","message":"m","optionalOldSelf":false},{"rule":""}]})"};
  for (const std::string& part : kept) {
    INFO(part);
    bool keeps = false;
    CHECK(ShapeWithProperty(R"({"properties":{"z":{"odd":1},"p":)" + part + "}}", "p", keeps) ==
          R"({"properties":{"p":)" + part + R"(,"z":{}}})");
    CHECK(keeps);
  }
  const std::pair<const char*, const char*> anew[] = {
      {R"({"maximum":1})", R"({"maximum":1})"},
      {R"({"type":"object","description":"d"})", R"({"description":"d","type":"object"})"},
      {R"({"items":{"items":{"id":""}}})", R"({"items":{"items":{}}})"},
      {R"({"properties":{"b":{},"a":{}}})", R"({"properties":{"a":{},"b":{}}})"},
      {R"({"default":{"b":{},"a":{}}})", R"({"default":{"a":{},"b":{}}})"},
      {R"({"externalDocs":{"url":"u","odd":1}})", R"({"externalDocs":{"url":"u"}})"},
      {R"({"x-kubernetes-validations":[{"message":"m"}]})",
       R"({"x-kubernetes-validations":[{"rule":"","message":"m"}]})"},
      {R"({"x-kubernetes-validations":[{"rule":"r","odd":1}]})",
       R"({"x-kubernetes-validations":[{"rule":"r"}]})"}};
  for (const auto& [part, written] : anew) {
    INFO(part);
    bool keeps = true;
    CHECK(ShapeWithProperty(R"({"properties":{"p":)" + std::string(part) + "}}", "p", keeps) ==
          R"({"properties":{"p":)" + std::string(written) + "}}");
    CHECK_FALSE(keeps);
  }
}

TEST_CASE("apiextensions: unknown members of schemas are named where Go looks for them") {
  const Shaped shaped = Shape(
      R"({"a":1,"properties":{"p":{"b":1,"allOf":[{},{"c":1}],"items":{"hidden":1}}},
          "additionalProperties":{"hidden":{"x":1}},"not":{"d":2},
          "externalDocs":{"url":"u","e":1},"x-kubernetes-validations":[{"rule":"r"},{"f":1}]})");
  CHECK(shaped.error.empty());
  const std::string place = kPlace;
  CHECK(shaped.unknown == std::vector<std::string>{place + ".a", place + ".properties.p.b",
                                                   place + ".properties.p.allOf[1].c",
                                                   place + ".not.d", place + ".externalDocs.e",
                                                   place + ".x-kubernetes-validations[1].f"});
}

TEST_CASE("apiextensions: values that do not fit get the errors of Go's decoder") {
  const std::pair<const char*, const char*> rows[] = {
      {R"({"type":5})",
       "json: cannot unmarshal number into Go struct field "
       "JSONSchemaProps.spec.versions.schema.type of type string"},
      {R"({"properties":{"a":{"maxLength":"x"}}})",
       "json: cannot unmarshal string into Go struct field "
       "JSONSchemaProps.spec.versions.schema.properties.maxLength of type int64"},
      {R"({"items":{"nullable":"x"}})",
       "json: cannot unmarshal string into Go struct field "
       "JSONSchemaProps.spec.versions.schema.items.nullable of type bool"},
      {R"({"items":{"properties":{"a":{"pattern":true}}}})",
       "json: cannot unmarshal bool into Go struct field "
       "JSONSchemaProps.spec.versions.schema.items.properties.pattern of type string"},
      {R"({"additionalProperties":3})", "boolean or JSON schema expected"},
      {R"({"properties":[]})",
       "json: cannot unmarshal array into Go struct field "
       "JSONSchemaProps.spec.versions.schema.properties of type map[string]v1.JSONSchemaProps"},
      {R"({"allOf":[1]})",
       "json: cannot unmarshal number into Go struct field "
       "JSONSchemaProps.spec.versions.schema.allOf of type v1.JSONSchemaProps"},
      {R"({"required":[{}]})",
       "json: cannot unmarshal object into Go struct field "
       "JSONSchemaProps.spec.versions.schema.required of type string"},
      {R"({"dependencies":{"a":[1]}})",
       "json: cannot unmarshal number into Go struct field "
       "JSONSchemaProps.spec.versions.schema.dependencies of type string"},
      {R"({"x-kubernetes-validations":[{"rule":1}]})",
       "json: cannot unmarshal number into Go struct field "
       "ValidationRule.spec.versions.schema.x-kubernetes-validations.rule of type string"},
      {R"({"externalDocs":{"url":[]}})",
       "json: cannot unmarshal array into Go struct field "
       "ExternalDocumentation.spec.versions.schema.externalDocs.url of type string"},
      {"[]",
       "json: cannot unmarshal array into Go struct field "
       "CustomResourceValidation.spec.versions.schema of type v1.JSONSchemaProps"}};
  for (const auto& [given, error] : rows) {
    INFO(given);
    CHECK(Shape(given).error == error);
  }
}

TEST_CASE("apiextensions: schemas of any depth and width are normalized in linear time") {
  std::string deep;
  for (int i = 0; i < 4000; ++i) deep += R"({"not":)";
  deep += R"({"odd":1})" + std::string(4000, '}');
  CHECK(Shape(deep).unknown.size() == 1);

  std::string wide = R"({"allOf":[{})";
  for (int i = 0; i < 300'000; ++i) wide += R"(,{"x":1})";
  const Shaped shaped = Shape(wide + "]}");
  CHECK(shaped.error.empty());
  CHECK(shaped.unknown.size() == 100);
}

TEST_CASE("apiextensions: every schema below is visited, whatever holds it") {
  runtime::Arena arena;
  Result<Value> schema = codec::ParseJson(
      R"({"title":"0","items":[{"title":"1"}],"allOf":[{"title":"2"}],"anyOf":[{"title":"3"}],
          "oneOf":[{"title":"4"}],"not":{"title":"5"},"properties":{"p":{"title":"6"}},
          "additionalProperties":{"title":"7"},"patternProperties":{"p":{"title":"8"}},
          "additionalItems":{"title":"9"},"definitions":{"d":{"title":"10"}},
          "dependencies":{"d":{"title":"11","items":{"title":"12"}},"e":["x"]}})",
      arena);
  REQUIRE(schema.ok());
  std::vector<int> seen;
  apiextensions::ForEachSchema(*schema, [&](const Value& node) {
    seen.push_back(std::stoi(std::string(node["title"].AsString())));
    return true;
  });
  std::sort(seen.begin(), seen.end());
  CHECK(seen == std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
}

}  // namespace
