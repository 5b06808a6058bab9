#include "apiserver/codec/openapi_kinds.h"

#include <catch2/catch.hpp>

#include <fstream>
#include <iterator>
#include <string>
#include <vector>

// Kinds of OpenAPI documents, real and hostile ones.
namespace apiserver::inline v0::codec {
namespace {

using runtime::KindOptions;
using runtime::SchemaType;

constexpr std::string_view kMeta = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";

std::string TextOfFile(const std::string& path) {
  std::ifstream file(path);
  REQUIRE(file);
  return {std::istreambuf_iterator<char>(file), {}};
}

Result<std::vector<KindOptions>> Read(const std::string& text,
                                      const std::vector<std::string>& kinds = {}) {
  runtime::SchemaPool pool;
  return KindOptionsFromOpenApi(text, kinds, pool);
}

// A document with a kind Foo, whose spec is `spec`, and further definitions.
std::string DocumentWith(const std::string& spec, const std::string& definitions = "") {
  return R"({"openapi":"3.0.0","components":{"schemas":{"a.v1.Foo":{"type":"object","properties":)"
         R"({"metadata":{"$ref":"#/components/schemas/)" +
         std::string(kMeta) + R"("},"spec":)" + spec +
         R"(},"x-kubernetes-group-version-kind":[{"group":"a.example","version":"v1",)"
         R"("kind":"Foo"}]})" +
         definitions + "}}}";
}

std::string Ref(const std::string& name) {
  return R"({"$ref":"#/components/schemas/)" + name + R"("})";
}

TEST_CASE("codec: a document's kinds have their names, scopes and shared definitions", "[codec]") {
  runtime::SchemaPool pool;
  const auto kinds = KindOptionsFromOpenApi(TextOfFile("tests/generator/served.json"), {}, pool);
  INFO(kinds.status().ToString());
  REQUIRE(kinds.ok());
  REQUIRE(kinds->size() == 2);
  const KindOptions& cage = kinds->front();
  CHECK(cage.kind == "Cage");
  CHECK(cage.group == "zoo.example.com");
  CHECK(cage.plural == "cages");
  CHECK_FALSE(cage.namespaced);
  const KindOptions& mouse = kinds->back();
  CHECK(mouse.plural == "mice");
  CHECK(mouse.namespaced);

  const auto& root = *cage.versions.front().schema;
  const auto* spec = root.FindField("spec");
  REQUIRE(spec != nullptr);
  CHECK(spec->required);
  CHECK(root.DescriptionOf(*spec) == "What is in it.");
  CHECK(spec->schema->name() == "com.example.zoo.v1.CageSpec");
  CHECK(spec->schema->FindField("door")->schema->type == SchemaType::kIntOrString);
  CHECK(spec->schema->FindField("cleaned")->schema->type == SchemaType::kTime);
  // A definition within itself, and one without a type, are open.
  CHECK(spec->schema->FindField("inner")->schema->type == SchemaType::kAny);
  CHECK(spec->schema->FindField("notes")->schema->type == SchemaType::kAny);
  CHECK(spec->schema->DescriptionOf(*spec->schema->FindField("notes")) == "Whatever is noted.");
  const auto& bowls = *spec->schema->FindField("bowls")->schema;
  CHECK(bowls.list_map_keys() == std::vector<std::string_view>{"name"});
  const auto* bowl = mouse.versions.front().schema->FindField("bowl");
  CHECK(mouse.versions.front().schema->DescriptionOf(*bowl) == "Its own.");
  CHECK(bowl->schema == bowls.items());
  CHECK(bowl->schema->FindField("holds")->schema->type == SchemaType::kQuantity);
  CHECK(bowl->schema->FindField("picture")->schema->type == SchemaType::kBytes);
}

TEST_CASE("codec: kinds are chosen by name and group", "[codec]") {
  const std::string text = TextOfFile("tests/generator/served.json");
  CHECK(Read(text, {"Mouse"}).value().size() == 1);
  CHECK(Read(text, {"Mouse.zoo.example.com"}).value().size() == 1);
  CHECK(Read(text, {"Mouse.other.example.com", "mouse", "MouseList"}).value().empty());
}

TEST_CASE("codec: documents of a kube-apiserver are read in both versions", "[codec]") {
  for (const char* file : {"v2_apiextensions.k8s.io.v1.json", "v3_apiextensions.k8s.io.v1.json"}) {
    INFO(file);
    const auto kinds = Read(TextOfFile(std::string("tests/testdata/kube-openapi/") + file));
    INFO(kinds.status().ToString());
    REQUIRE(kinds.ok());
    REQUIRE(kinds->size() == 1);
    const KindOptions& crd = kinds->front();
    CHECK(crd.kind == "CustomResourceDefinition");
    CHECK(crd.plural == "customresourcedefinitions");
    CHECK_FALSE(crd.namespaced);
    const auto& spec = *crd.versions.front().schema->FindField("spec")->schema;
    const auto& version = *spec.FindField("versions")->schema->items();
    CHECK(version.FindField("served")->required);
    // JSONSchemaProps is within itself.
    const auto& schema = *version.FindField("schema")->schema->FindField("openAPIV3Schema")->schema;
    CHECK(schema.FindField("not")->schema->type == SchemaType::kAny);
    CHECK(runtime::Kind::New(crd).ok());
  }
}

TEST_CASE("codec: a document that cannot be read is refused with the place", "[codec]") {
  struct Row {
    std::string text;
    std::string message;
  };
  const std::vector<Row> rows{
      {DocumentWith(Ref("a.v1.None")),
       "a.v1.Foo: spec: the $ref \"#/components/schemas/a.v1.None\" leads nowhere"},
      {DocumentWith(R"({"$ref":"http://example.com/x"})"),
       "a.v1.Foo: spec: the $ref \"http://example.com/x\" leads nowhere"},
      {DocumentWith(Ref("a.v1.Spec"), R"(,"a.v1.Spec":{"type":"object","properties":{"x":3}})"),
       "a.v1.Foo: spec: a.v1.Spec: x: must be an object"},
      {DocumentWith(R"({"type":"rainbow"})"), "a.v1.Foo: spec: unknown type \"rainbow\""},
      {R"({"openapi":"4.0"})", "this is no OpenAPI document"},
      {R"({"kind":"CustomResourceDefinition"})", "this is no OpenAPI document"},
  };
  for (const Row& row : rows) {
    INFO(row.text);
    const auto read = Read(row.text);
    CHECK(read.status().reason() == Reason::kInvalid);
    CHECK(read.status().message() == row.message);
  }
  CHECK(Read("{").status().reason() == Reason::kBadRequest);
  CHECK_FALSE(IsOpenApiDocument("{"));
  CHECK_FALSE(IsOpenApiDocument("kind: CustomResourceDefinition"));
  CHECK(IsOpenApiDocument("swagger: '2.0'"));
}

TEST_CASE("codec: definitions that lead to each other end", "[codec]") {
  SECTION("to themselves") {
    CHECK(Read(DocumentWith(Ref("b"), R"(,"b":)" + Ref("b"))).ok());
    CHECK(Read(DocumentWith(Ref("a.v1.Foo"))).ok());
    CHECK(Read(DocumentWith(Ref("b"), R"(,"b":{"type":"array","items":)" + Ref("c") +
                                          R"(},"c":{"type":"object","additionalProperties":)" +
                                          Ref("b") + "}"))
              .ok());
  }
  SECTION("in a long row") {
    std::string row;
    for (int i = 0; i < 10'000; ++i) {
      row += ",\"d" + std::to_string(i) + R"(":{"type":"object","properties":{"next":)" +
             Ref("d" + std::to_string(i + 1)) + "}}";
    }
    const auto read = Read(DocumentWith(Ref("d0"), row + R"(,"d10000":{"type":"string"})"));
    CHECK(read.status().reason() == Reason::kInvalid);
    CHECK(read.status().message().find("is nested too deeply") != std::string::npos);
    CHECK(read.status().message().size() < 100'000);
  }
  SECTION("in very many ways") {
    // Each has the next one twice: 2^60 places.
    std::string all;
    for (int i = 0; i < 60; ++i) {
      const std::string next = Ref("d" + std::to_string(i + 1));
      all += ",\"d" + std::to_string(i) + R"(":{"type":"object","properties":{"a":)" + next +
             R"(,"b":)" + next + "}}";
    }
    const auto read = Read(DocumentWith(Ref("d0"), all + R"(,"d60":{"type":"string"})"));
    CHECK(read.status().reason() == Reason::kInvalid);
    CHECK(read.status().message().find("a.v1.Foo: has more than 1000000 fields") == 0);
  }
}

}  // namespace
}  // namespace apiserver::inline v0::codec
