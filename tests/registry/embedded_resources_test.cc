#include <algorithm>
#include <catch2/catch.hpp>
#include <fstream>
#include <string>
#include <vector>

#include "apiserver/codec/json.h"
#include "apiserver/codec/schema_loader.h"
#include "apiserver/codec/yaml.h"
#include "apiserver/runtime/kind.h"
#include "apiserver/runtime/object.h"
#include "rest/validate_by_schema.h"
#include "rest/validate_embedded.h"

namespace apiserver::inline v0::rest {
namespace {

using runtime::Value;

// An object whose member `spec` has the schema and the value.
std::unique_ptr<runtime::Object> EmbeddingObject(const Value& schema, const Value& spec) {
  runtime::Arena arena;
  runtime::MapBuilder properties(arena);
  properties.Add("spec", schema);
  runtime::MapBuilder root(arena);
  root.Add("type", Value::String("object"));
  root.Add("properties", properties.Build());
  runtime::KindOptions options{.group = "example.com", .kind = "Foo", .plural = "foos"};
  options.semantics = runtime::Semantics::kCustomResource;
  options.versions = {
      {.version = "v1", .schema = codec::RootSchemaFromOpenApi(root.Build()).value()}};
  auto object =
      std::make_unique<runtime::Object>(runtime::Kind::New(std::move(options)).value(), "v1");
  runtime::MapBuilder content(object->arena());
  content.Add("spec", runtime::Copy(spec, object->arena()));
  object->SetRoot(content.Build());
  return object;
}

std::vector<std::string> SortedErrors(const field::ErrorList& errors) {
  std::vector<std::string> messages;
  for (const field::Error& error : errors) messages.push_back(error.Message());
  std::sort(messages.begin(), messages.end());
  return messages;
}

// Only the field is compared for metadata: Go words some of it by declarative rules. An operation
// is required since 0.36, where the rows have that its value is invalid.
std::string Comparable(std::string message) {
  const std::size_t operation = message.find(".operation: ");
  if (operation != std::string::npos) return message.substr(0, operation);
  return message.substr(0, message.find(": Invalid value"));
}

TEST_CASE("rest: resources in objects are found as invalid as Go finds them", "[rest]") {
  const std::string file = GENERATE("recorded.jsonl", "metadata.jsonl");
  std::ifstream lines(std::string(APISERVER_TESTDATA) + "/objects/" + file);
  int found = 0;
  for (std::string text; std::getline(lines, text);) {
    CAPTURE(text);
    runtime::Arena arena;
    const Value line = codec::ParseJson(text, arena).value();
    const auto object = EmbeddingObject(line["schema"], line["object"]);
    std::vector<std::string> expected;
    for (const Value& error : line["embedded"].items()) {
      expected.push_back(Comparable(std::string(error.AsString())));
    }
    std::vector<std::string> messages = SortedErrors(ValidateEmbedded(*object));
    for (std::string& message : messages) message = Comparable(std::move(message));
    std::sort(expected.begin(), expected.end());
    CHECK(messages == expected);
    found += expected.empty() ? 0 : 1;
  }
  CHECK(found > 0);
}

constexpr char kEmbedding[] = R"({type: object, properties: {
  pod: {type: object, x-kubernetes-embedded-resource: true,
        x-kubernetes-preserve-unknown-fields: true}}})";

std::vector<std::string> EmbeddedErrors(std::string_view spec) {
  runtime::Arena arena;
  const auto object = EmbeddingObject(codec::ParseYaml(kEmbedding, arena).value(),
                                      codec::ParseYaml(spec, arena).value());
  return SortedErrors(ValidateBySchema(Context::Background(), *object, nullptr, {}));
}

TEST_CASE("rest: an embedded resource has a type, a kind and valid metadata", "[rest]") {
  using Messages = std::vector<std::string>;
  CHECK(EmbeddedErrors("{pod: {apiVersion: v1, kind: Pod, metadata: {labels: {a: b}}}}").empty());
  CHECK(EmbeddedErrors("{pod: {}}") ==
        Messages{"spec.pod.apiVersion: Required value", "spec.pod.kind: Required value"});
  CHECK(EmbeddedErrors("{pod: {apiVersion: a/b/c, kind: ''}}") ==
        Messages{R"(spec.pod.apiVersion: Invalid value: "a/b/c": unexpected GroupVersion string: )"
                 "a/b/c",
                 R"(spec.pod.kind: Invalid value: "": must not be empty)"});
  CHECK(EmbeddedErrors("{pod: {apiVersion: 1, kind: P_}}").size() == 2);
  CHECK(EmbeddedErrors("{pod: {apiVersion: v1, kind: P, metadata: {name: a/b}}}").size() == 1);
  CHECK(EmbeddedErrors("{pod: {apiVersion: v1, kind: P, metadata: {name: 1}}}") ==
        Messages{R"(spec.pod.metadata: Invalid value: {"name":1}: json: cannot unmarshal number )"
                 "into Go struct field ObjectMeta.name of type string"});
}

}  // namespace
}  // namespace apiserver::inline v0::rest
