// The programs that the README shows: examples/pets, crd-resource, typed-resource
// and two-servers do what they say.
#include <catch2/catch.hpp>

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "apiserver/client/client.h"
#include "apiserver/codec/json.h"
#include "apiserver/server/standalone.h"
#include "apiserver/storage/memory/engine.h"
#include "apiserver/testing/server/test_server.h"
#include "contains.h"
#include "zoo.h"

using namespace apiserver;  // NOLINT: a test.
using testing::Contains;

// The functions of the programs.
Status ServePets(server::GenericAPIServer& server, storage::kv::Engine& engine);
Status ServeCrd(server::GenericAPIServer& server, storage::kv::Engine& engine, const char* file);
Status ServeTyped(server::GenericAPIServer& server, storage::kv::Engine& engine, const char* file);
Result<std::unique_ptr<server::GenericAPIServer>> NewServer(const server::Standalone& users,
                                                            runtime::KindOptions options,
                                                            storage::kv::Engine& engine);

namespace {

constexpr const char* kPets = "/apis/zoo.example.com/v1/namespaces/default/pets";
constexpr const char* kCrdFile = "examples/crd-resource/pets.yaml";

using Serve = std::function<Status(server::GenericAPIServer&, storage::kv::Engine&)>;

struct Zoo {
  explicit Zoo(const Serve& serve) {
    testing::TestServerOptions options;
    options.engine = engine.get();
    options.install = [&](server::GenericAPIServer& made) { return serve(made, *engine); };
    auto started = testing::StartTestServer(std::move(options));
    INFO(started.status().ToString());
    REQUIRE(started.ok());
    server = *std::move(started);
  }

  http::ClientResponse Post(const std::string& name, const std::string& rest) const {
    const std::string type = R"({"apiVersion":"zoo.example.com/v1","kind":"Pet",)";
    return server->Call("POST", kPets,
                        type + R"("metadata":{"name":")" + name + R"("},)" + rest + "}");
  }
  http::ClientResponse Patch(const std::string& target, const std::string& body) const {
    return server->Call("PATCH", target, body, {{"Content-Type", "application/merge-patch+json"}});
  }
  http::ClientResponse Table() const {
    return server->Call("GET", kPets, "",
                        {{"Accept", "application/json;as=Table;v=v1;g=meta.k8s.io"}});
  }

  std::unique_ptr<storage::kv::Engine> engine = storage::memory::NewEngine();
  std::unique_ptr<testing::TestServer> server;
};

Status ServePetsOfCrd(server::GenericAPIServer& server, storage::kv::Engine& engine) {
  return ServeCrd(server, engine, kCrdFile);
}

}  // namespace

TEST_CASE("examples: pets are defaulted and validated by their schema", "[examples]") {
  const Zoo zoo(GENERATE(Serve(&ServePets), Serve(&ServePetsOfCrd)));

  const auto created = zoo.Post("tom", R"("spec":{"species":"cat"},"status":{"mood":"sly"})");
  CHECK(created.code == 201);
  CHECK(Contains(created.body, R"("spec":{"replicas":1,"species":"cat"})"));
  CHECK(Contains(created.body, R"("generation":1)"));
  CHECK_FALSE(Contains(created.body, "mood"));

  const auto dragon = zoo.Post("d", R"("spec":{"species":"dragon","replicas":-5})");
  CHECK(dragon.code == 422);
  CHECK(Contains(dragon.body, R"(spec.species: Unsupported value: \"dragon\": supported values: )"
                              R"(\"cat\", \"dog\")"));
  CHECK(Contains(dragon.body, "spec.replicas in body should be greater than or equal to 1"));
  CHECK(zoo.Post("e", R"("spec":{"species":42,"replicas":"many"})").code == 422);
  CHECK(Contains(zoo.Post("f", R"("spec":{})").body, "spec.species: Required value"));
  CHECK(zoo.Post("g", R"("spec":"nonsense")").code == 422);
  CHECK(Contains(zoo.Post("h", R"("metadata2":{})").body, "spec: Required value"));
  CHECK(zoo.Patch(std::string(kPets) + "/tom", R"({"spec":{"replicas":0}})").code == 422);
}

TEST_CASE("examples: the status of a pet is changed by its subresource alone", "[examples]") {
  const Zoo zoo(GENERATE(Serve(&ServePets), Serve(&ServePetsOfCrd)));
  const std::string tom = std::string(kPets) + "/tom";
  REQUIRE(zoo.Post("tom", R"("spec":{"species":"cat"})").code == 201);

  const auto status =
      zoo.Patch(tom + "/status", R"({"spec":{"replicas":7},"status":{"mood":"sly"}})");
  CHECK(status.code == 200);
  CHECK(Contains(status.body, R"("spec":{"replicas":1,"species":"cat"},"status":{"mood":"sly"})"));
  CHECK(Contains(status.body, R"("generation":1)"));

  const auto spec = zoo.Patch(tom, R"({"spec":{"replicas":3},"status":{"mood":"angry"}})");
  CHECK(spec.code == 200);
  CHECK(Contains(spec.body, R"("spec":{"replicas":3,"species":"cat"},"status":{"mood":"sly"})"));
  CHECK(Contains(spec.body, R"("generation":2)"));
}

TEST_CASE("examples: pets are shown in the columns of their kind", "[examples]") {
  const Zoo zoo(GENERATE(Serve(&ServePets), Serve(&ServePetsOfCrd)));
  REQUIRE(zoo.Post("tom", R"("spec":{"species":"cat"})").code == 201);
  REQUIRE(zoo.Patch(std::string(kPets) + "/tom/status", R"({"status":{"mood":"sly"}})").code ==
          200);

  const auto table = zoo.Table();

  CHECK(Contains(table.body, R"("name":"Species","type":"string")"));
  CHECK(Contains(table.body, R"("name":"Mood","type":"string")"));
  CHECK(Contains(table.body, R"("cells":["tom","cat","sly")"));
}

TEST_CASE("examples: an older version of a pet calls its replicas size", "[examples]") {
  const Zoo zoo(&ServePets);
  const std::string old = "/apis/zoo.example.com/v1beta1/namespaces/default/pets";

  const auto created = zoo.server->Call(
      "POST", old,
      R"({"apiVersion":"zoo.example.com/v1beta1","kind":"Pet","metadata":{"name":"rex"},)"
      R"("spec":{"species":"dog","size":2}})");
  CHECK(created.code == 201);
  CHECK(Contains(created.body, R"("spec":{"size":2,"species":"dog"})"));
  const auto got = zoo.server->Call("GET", std::string(kPets) + "/rex");
  CHECK(Contains(got.body, R"("spec":{"replicas":2,"species":"dog"})"));
  CHECK(Contains(zoo.server->Call("GET", old).body, R"("spec":{"size":2,"species":"dog"})"));
}

TEST_CASE("examples: code checks of a pet what its schema cannot", "[examples]") {
  const Zoo zoo(&ServePets);

  const auto refused = zoo.Post("nobody", R"("spec":{"species":"cat","replicas":0})");

  CHECK(refused.code == 422);
  CHECK(Contains(refused.body, "metadata.name: Forbidden: pets are somebody"));
  CHECK(Contains(refused.body, "spec.replicas in body should be greater than or equal to 1"));
}

TEST_CASE("examples: a rule that is written with structs is obeyed", "[examples]") {
  const Zoo zoo([](server::GenericAPIServer& server, storage::kv::Engine& engine) {
    return ServeTyped(server, engine, kCrdFile);
  });
  CHECK(zoo.Post("tom", R"("spec":{"species":"cat","replicas":4})").code == 201);
  CHECK(zoo.Post("rex", R"("spec":{"species":"dog"})").code == 201);

  const auto pack = zoo.Patch(std::string(kPets) + "/rex", R"({"spec":{"replicas":4}})");

  CHECK(pack.code == 422);
  CHECK(Contains(pack.body, "spec.replicas: Forbidden: three dogs are a pack"));
}

TEST_CASE("examples: what the server answers is read as a struct", "[examples]") {
  const Zoo zoo(&ServePetsOfCrd);
  REQUIRE(zoo.Post("tom", R"("spec":{"species":"cat"})").code == 201);

  const auto body = zoo.server->Call("GET", std::string(kPets) + "/tom").body;
  runtime::Object object(runtime::Kind::Untyped({"zoo.example.com", "v1", "Pet"}), "v1");
  object.SetRoot(codec::ParseJson(body, object.arena()).value());
  const auto pet = runtime::FromObject<zoo::v1::Pet>(object);

  REQUIRE(pet.ok());
  CHECK(pet->metadata.name == "tom");
  CHECK(pet->metadata.generation == 1);
  CHECK_FALSE(pet->metadata.creationTimestamp.is_zero());
  CHECK(pet->spec.species == "cat");
  CHECK(pet->spec.replicas == 1);
}

TEST_CASE("examples: a CustomResourceDefinition brings a scale and selectable fields",
          "[examples]") {
  const Zoo zoo(&ServePetsOfCrd);
  REQUIRE(zoo.Post("tom", R"("spec":{"species":"cat"})").code == 201);
  REQUIRE(zoo.Post("rex", R"("spec":{"species":"dog"})").code == 201);

  const auto scaled = zoo.Patch(std::string(kPets) + "/tom/scale", R"({"spec":{"replicas":4}})");
  CHECK(scaled.code == 200);
  CHECK(Contains(scaled.body, R"("kind":"Scale")"));
  CHECK(Contains(zoo.server->Call("GET", std::string(kPets) + "/tom").body, R"("replicas":4)"));
  const auto dogs =
      zoo.server->Call("GET", std::string(kPets) + "?fieldSelector=spec.species%3Ddog");
  CHECK(Contains(dogs.body, R"("name":"rex")"));
  CHECK_FALSE(Contains(dogs.body, R"("name":"tom")"));
}

TEST_CASE("examples: a CustomResourceDefinition that is missing is an error that names the file",
          "[examples]") {
  const auto engine = storage::memory::NewEngine();
  testing::TestServerOptions options;
  options.engine = engine.get();
  options.install = [&](server::GenericAPIServer& made) {
    return ServeCrd(made, *engine, "examples/crd-resource/none.yaml");
  };
  CHECK(Contains(testing::StartTestServer(std::move(options)).status().ToString(),
                 "examples/crd-resource/none.yaml"));
}

TEST_CASE("examples: two servers of one process share an engine and nothing else", "[examples]") {
  const auto engine = storage::memory::NewEngine();
  const auto keepers = server::NewStandalone({}).value();
  const auto staff = server::NewStandalone({}).value();
  const auto zoo =
      NewServer(keepers, {.group = "zoo.io", .kind = "Pet", .plural = "pets"}, *engine).value();
  const auto shop =
      NewServer(staff, {.group = "shop.io", .kind = "Cup", .plural = "cups"}, *engine).value();
  REQUIRE(zoo->Start().ok());
  REQUIRE(shop->Start().ok());
  CHECK(zoo->port() != shop->port());
  const auto code = [](server::GenericAPIServer& server, std::string method, std::string target,
                       std::string body = "") {
    const auto client =
        client::NewClient(std::shared_ptr<http::Connection>(server.LoopbackConnection()));
    http::Headers headers;
    if (!body.empty()) headers.Add("Content-Type", "application/json");
    return client
        ->Call(Context::Background(), {.method = std::move(method),
                                       .target = std::move(target),
                                       .headers = std::move(headers),
                                       .body = std::move(body)})
        .value()
        .code;
  };
  const std::string pets = "/apis/zoo.io/v1/namespaces/default/pets";
  const std::string pet = R"({"metadata":{"name":"tom"},"spec":{"species":"cat"}})";

  CHECK(code(*zoo, "POST", pets, pet) == 201);
  CHECK(code(*zoo, "GET", pets + "/tom") == 200);
  CHECK(code(*shop, "GET", pets + "/tom") == 404);
  CHECK(code(*shop, "GET", "/apis/shop.io/v1/cups") == 200);

  auto second = NewServer(keepers, {.group = "zoo.io", .kind = "Pet", .plural = "Pets"}, *engine);
  CHECK(Contains(second.status().ToString(), "plural \"Pets\" is no RFC 1035 label"));
  shop->Stop();
  zoo->Stop();
}
