// Definitions as a Go server stores them: tests/testdata/apiextensions/README.md.
#include <catch2/catch.hpp>

#include <fstream>
#include <memory>
#include <string>
#include <utility>

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
    CHECK(stored->bytes == bytes);

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
