// Definitions as a Go server stores them: tests/testdata/apiextensions/README.md.
#include <catch2/catch.hpp>

#include <fstream>
#include <memory>
#include <string>
#include <utility>

#include "apiextensions/control/structure.h"
#include "apiextensions/definitions.h"
#include "apiextensions/fixture.h"
#include "apiserver/apiextensions/definition.h"
#include "apiserver/codec/codec.h"
#include "apiserver/runtime/convert.h"

namespace {

using namespace apiserver;
using namespace apiextensions_test;
using namespace apiserver::testing;

constexpr char kStoredKey[] =
    "/registry/apiextensions.k8s.io/customresourcedefinitions/foos.example.com";

std::string StoredJson(const std::string& object) {
  return R"({"kind":"CustomResourceDefinition","apiVersion":"apiextensions.k8s.io/v1beta1",)" +
         object.substr(1) + "\n";
}

void Put(storage::kv::Engine& engine, const std::string& value) {
  storage::kv::TxnRequest request;
  request.key = kStoredKey;
  request.value = std::make_shared<const std::string>(value);
  REQUIRE(engine.Txn(Context::Background(), request)->succeeded);
}

std::string Stored(storage::kv::Engine& engine) {
  storage::kv::RangeRequest request;
  request.key = kStoredKey;
  const auto range = engine.Range(Context::Background(), request);
  REQUIRE(range.ok());
  REQUIRE(range->kvs.size() == 1);
  return *range->kvs[0].value;
}

TEST_CASE("apiextensions: definitions are stored byte for byte as by a Go server") {
  std::ifstream file(std::string(APISERVER_TESTDATA) + "/apiextensions/messages.jsonl");
  REQUIRE(file.good());
  for (std::string line; std::getline(file, line);) {
    runtime::Arena arena;
    const runtime::Value row = codec::ParseJson(line, arena).value();
    INFO(row["name"].AsString());
    const auto definition = DefinitionOf(JsonOf(row["in"]));
    const auto stored = codec::EncodeForStorage(Context::Background(), *definition);
    INFO(stored.status().ToString());
    REQUIRE(stored.ok());
    const std::string bytes = JsonOf(row["stored"]) + "\n";
    CHECK(*stored->bytes == bytes);

    const runtime::ObjectPtr read =
        codec::DecodeFromStorage(apiextensions::DefinitionKind(),
                                 std::make_shared<const std::string>(bytes), 1)
            .value();
    CHECK(read->version() == "v1beta1");
    const runtime::ObjectPtr back = runtime::Converted(Context::Background(), read, "v1").value();
    const auto again = back->Clone();
    again->Erase("metadata", "resourceVersion");
    // v1beta1 has a default for the scope.
    if ((*definition)["spec"]["scope"].size() == 0) again->Edit("spec", "scope") = "";
    CHECK(JsonOf(again->root()) == JsonOf(definition->root()));
  }
}

// A definition as v1beta1 had it long ago: one version, no names but the necessary.
constexpr char kOld[] = R"({"metadata":{"name":"foos.example.com","uid":"1","generation":1},
"spec":{"group":"example.com","version":"v1","names":{"plural":"foos","kind":"Foo"},
"scope":"Namespaced","validation":{"openAPIV3Schema":{"properties":
{"b":{"type":"string"},"a":{}}}},
"additionalPrinterColumns":[{"name":"B","type":"string","JSONPath":".b"}]},
"status":{"conditions":null,"acceptedNames":{"plural":"","kind":""},"storedVersions":["v1"]}})";

TEST_CASE("apiextensions: a definition that a Go server has stored is served, and told of") {
  const auto engine = storage::memory::NewEngine();
  Put(*engine, StoredJson(kOld));
  TestServerOptions options;
  options.engine = engine.get();
  const CustomServer server(std::move(options));
  REQUIRE(Eventually([&] { return server.IsEstablished("foos.example.com"); }));
  const std::string path = std::string(kDefinitions) + "/foos.example.com";
  const Answer got = server.Get(path);
  CHECK(got["apiVersion"].AsString() == "apiextensions.k8s.io/v1");
  const runtime::Value version = got["spec"]["versions"].at(0);
  CHECK(JsonOf(version) ==
        R"({"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"properties":)"
        R"({"a":{},"b":{"type":"string"}}}},)"
        R"("additionalPrinterColumns":[{"name":"B","type":"string","jsonPath":".b"}]})");
  CHECK(got["spec"]["preserveUnknownFields"].AsBool());
  const Answer made = server.Call("POST", kFoos, Foo("a", "{}"));
  INFO(made.body);
  CHECK(made.code == 201);

  CHECK(Eventually(
      [&] { return !server.Condition("foos.example.com", "NonStructuralSchema").empty(); }));
  CHECK(server.Condition("foos.example.com", "NonStructuralSchema") ==
        "True/Violations/[spec.preserveUnknownFields: Invalid value: true: must be false, "
        "spec.versions[0].schema.openAPIV3Schema.properties[a].type: Required value: must not be "
        "empty for specified object fields, spec.versions[0].schema.openAPIV3Schema.type: Required "
        "value: must not be empty at the root]");
  CHECK(Contains(Stored(*engine), R"("apiVersion":"apiextensions.k8s.io/v1beta1",)"));
  CHECK(Contains(Stored(*engine), R"("JSONPath":".b")"));

  // Once the schema is structural, nothing is said any more.
  CHECK(server
            .Patch(path, R"({"spec":{"preserveUnknownFields":false,"versions":[{"name":"v1",)"
                         R"("served":true,"storage":true,"schema":{"openAPIV3Schema":)"
                         R"({"type":"object"}}}]}})")
            .code == 200);
  CHECK(Eventually(
      [&] { return server.Condition("foos.example.com", "NonStructuralSchema").empty(); }));
}

// Returns why the schemas of a definition are told of as not structural.
std::string FaultOf(const std::string& schema, bool preserves) {
  const auto definition = DefinitionOf(WithSchema(schema));
  definition->Edit("spec", "preserveUnknownFields") = preserves;
  return apiextensions::StructureOf(*definition).reason;
}

TEST_CASE("apiextensions: whoever stored a definition that prunes has checked its structure") {
  const std::string sound = R"({"type":"object"})";
  const std::string unsound = R"({"properties":{"a":{}}})";
  CHECK(FaultOf(sound, false).empty());
  CHECK(FaultOf(sound, true) == "Violations");
  CHECK(FaultOf(unsound, false).empty());
  CHECK(FaultOf(unsound, true) == "Violations");
  // A Go server does not limit this.
  std::string deep = sound;
  for (int level = 0; level < 201; ++level) deep = R"({"type":"array","items":)" + deep + "}";
  CHECK(FaultOf(deep, false) == "StructuralError");
}

TEST_CASE("apiextensions: a write that changes nothing leaves a stored definition alone") {
  const auto engine = storage::memory::NewEngine();
  TestServerOptions options;
  options.engine = engine.get();
  const CustomServer server(std::move(options));
  server.Define(FooDefinition());
  const std::string path = std::string(kDefinitions) + "/foos.example.com";
  const Answer before = server.Get(path);
  CHECK(Stored(*engine).starts_with(
      R"({"kind":"CustomResourceDefinition","apiVersion":"apiextensions.k8s.io/v1beta1",)"));
  CHECK(server.Call("PUT", path, before.body)["metadata"]["resourceVersion"].AsString() ==
        before["metadata"]["resourceVersion"].AsString());
  // It is not served in the version that it is stored in.
  CHECK(server.Get("/apis/apiextensions.k8s.io/v1beta1/customresourcedefinitions").code == 404);
  const Answer resources = server.Get("/apis/apiextensions.k8s.io/v1");
  CHECK(Contains(resources.body, R"("storageVersionHash":"jfWCUB31mvA=")"));
}

}  // namespace
