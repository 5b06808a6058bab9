// The store validates by the kind's schema, whatever its strategy does.
#include <catch2/catch.hpp>

#include "apiserver/codec/json.h"
#include "apiserver/codec/schema_loader.h"
#include "apiserver/rest/status.h"
#include "media_types.h"
#include "widget_server.h"

using namespace apiserver;  // NOLINT: a test.
using testing::kApply;
using testing::kMerge;

namespace {

constexpr char kCrd[] = R"(
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: pets.zoo.example.com}
spec:
  group: zoo.example.com
  scope: Namespaced
  names: {kind: Pet, plural: pets}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            required: [species]
            properties:
              species: {type: string, enum: [cat, dog]}
              replicas: {type: integer, minimum: 1, default: 1}
              names:
                type: array
                x-kubernetes-list-type: set
                items: {type: string}
          status:
            type: object
            properties:
              age: {type: integer, minimum: 0}
)";

// Finds nothing wrong but a name that a test chooses.
struct PetStrategy final : rest::Strategy {
  bool NamespaceScoped() const override { return true; }
  bool AllowCreateOnUpdate() const override { return true; }
  bool AllowUnconditionalUpdate() const override { return true; }
  field::ErrorList Validate(const Context&, const runtime::Object& object) const override {
    field::ErrorList errors;
    if (object.name() == "unlucky") errors.Forbidden(field::Path("metadata.name"), "bad luck");
    return errors;
  }
};

std::unique_ptr<testing::TestServer> StartPetServer() {
  const auto kind = runtime::Kind::New(codec::KindOptionsFromCrd(kCrd).value()).value();
  const auto strategy = std::make_shared<PetStrategy>();
  testing::TestServerOptions options;
  options.resources = {{.kind = kind, .strategy = strategy}};
  options.resources[0].subresources["status"] = [strategy,
                                                 kind](std::shared_ptr<registry::Store> store) {
    return registry::NewStatusStore(std::move(store), rest::NewStatusStrategy(strategy, kind));
  };
  return std::move(testing::StartTestServer(std::move(options))).value();
}

constexpr char kPets[] = "/apis/zoo.example.com/v1/namespaces/default/pets";
const std::string kPet = std::string(kPets) + "/a";

std::string Pet(const std::string& name, const std::string& spec) {
  return R"({"apiVersion":"zoo.example.com/v1","kind":"Pet","metadata":{"name":")" + name +
         R"("},"spec":)" + spec + "}";
}

// "422 Invalid: the message".
std::string Refusal(const http::ClientResponse& response) {
  runtime::Arena arena;
  const runtime::Value status = codec::ParseJson(response.body, arena).value();
  std::string text = std::to_string(response.code);
  text.append(" ").append(status["reason"].AsString());
  return text.append(": ").append(status["message"].AsString());
}

// Puts a pet behind the store's back, as it was before its schema became stricter.
void Smuggle(testing::TestServer& server, const std::string& name, const std::string& content) {
  registry::Store& store = *server.store("pets");
  const auto pet = store.New();
  runtime::Arena& arena = pet->arena();
  pet->SetRoot(codec::ParseJson(arena.Copy(content), arena).value());
  pet->Edit("metadata", "name") = name;
  pet->Edit("metadata", "namespace") = "default";
  const auto stored = store.storage().Create(Context::Background(), "/default/" + name, *pet,
                                             std::chrono::seconds(0));
  INFO(stored.status().ToString());
  REQUIRE(stored.ok());
}

}  // namespace

TEST_CASE("endpoints: a kind of a CRD takes only what its schema allows", "[endpoints]") {
  const auto server = StartPetServer();
  const auto refusal = [&](const std::string& name, const std::string& spec) {
    return Refusal(
        server->Call("POST", std::string(kPets) + "?fieldValidation=Strict", Pet(name, spec)));
  };
  const std::string is_invalid = "422 Invalid: Pet.zoo.example.com ";
  CHECK(refusal("a", R"({"species":"dragon","replicas":-5})") ==
        is_invalid +
            R"("a" is invalid: [spec.replicas: Invalid value: -5: spec.replicas in body should be )"
            R"(greater than or equal to 1, spec.species: Unsupported value: "dragon": supported )"
            R"(values: "cat", "dog"])");
  CHECK(
      refusal("b", R"({"species":42,"replicas":"many"})") ==
      is_invalid +
          R"("b" is invalid: [spec.replicas: Invalid value: "string": spec.replicas in body must )"
          R"(be of type integer: "string", spec.species: Invalid value: "integer": spec.species )"
          R"(in body must be of type string: "integer", spec.species: Unsupported value: 42: )"
          R"(supported values: "cat", "dog"])");
  CHECK(refusal("c", "{}") == is_invalid + R"("c" is invalid: spec.species: Required value)");
  CHECK(
      refusal("d", R"("nonsense")") ==
      is_invalid +
          R"("d" is invalid: spec: Invalid value: "string": spec in body must be of type object: )"
          R"("string")");
  CHECK(server->Call("POST", kPets, Pet("e", R"({"species":"cat"})")).code == 201);
}

TEST_CASE("endpoints: every way to write is validated by the schema", "[endpoints]") {
  const auto server = StartPetServer();
  REQUIRE(server->Call("POST", kPets, Pet("a", R"({"species":"cat"})")).code == 201);
  const std::string wrong = Pet("a", R"({"species":"cow"})");
  const std::string refused =
      R"(422 Invalid: Pet.zoo.example.com "a" is invalid: spec.species: Unsupported value: "cow": )"
      R"(supported values: "cat", "dog")";
  const std::string apply = "?fieldManager=me&force=true";
  CHECK(Refusal(server->Call("PUT", kPet, wrong)) == refused);
  CHECK(Refusal(server->Call("PATCH", kPet, R"({"spec":{"species":"cow"}})", kMerge)) == refused);
  CHECK(Refusal(server->Call("PATCH", kPet + apply, wrong, kApply)) == refused);
  CHECK(Refusal(server->Call("PUT", kPet + "?dryRun=All", wrong)) == refused);

  // The same as creates.
  REQUIRE(server->Call("DELETE", kPet).code == 200);
  CHECK(Refusal(server->Call("PUT", kPet, wrong)) == refused);
  CHECK(Refusal(server->Call("PATCH", kPet + apply, wrong, kApply)) == refused);
  CHECK(Refusal(server->Call("POST", std::string(kPets) + "?dryRun=All", wrong)) == refused);
  CHECK(server->Call("GET", kPet).code == 404);
}

TEST_CASE("endpoints: errors of the schema stand before the strategy's", "[endpoints]") {
  const auto server = StartPetServer();
  const auto response = server->Call("POST", kPets, Pet("unlucky", R"({"species":"cow"})"));
  CHECK(Refusal(response) ==
        R"(422 Invalid: Pet.zoo.example.com "unlucky" is invalid: [spec.species: Unsupported )"
        R"(value: "cow": supported values: "cat", "dog", metadata.name: Forbidden: bad luck])");
}

TEST_CASE("endpoints: a status is validated alone", "[endpoints]") {
  const auto server = StartPetServer();
  Smuggle(*server, "a", R"({"spec":{"species":"cow"}})");
  const std::string status = kPet + "/status";
  CHECK(Refusal(server->Call("PATCH", status, R"({"status":{"age":-1}})", kMerge)) ==
        R"(422 Invalid: Pet.zoo.example.com "a" is invalid: status.age: Invalid value: -1: )"
        R"(age in body should be greater than or equal to 0)");
  CHECK(server->Call("PATCH", status, R"({"status":{"age":3}})", kMerge).code == 200);
  // An error that stood there before stops no other change, as upstream's ratcheting has it.
  CHECK(server->Call("PATCH", kPet, R"({"metadata":{"labels":{"a":"b"}}})", kMerge).code == 200);
  CHECK(Refusal(server->Call("PATCH", kPet, R"({"spec":{"species":"horse"}})", kMerge)) ==
        R"(422 Invalid: Pet.zoo.example.com "a" is invalid: spec.species: Unsupported value: )"
        R"("horse": supported values: "cat", "dog")");
  CHECK(server->Call("PATCH", kPet, R"({"spec":{"species":"dog"}})", kMerge).code == 200);
}

TEST_CASE("endpoints: a set that repeats itself may stay as it was stored", "[endpoints]") {
  const auto server = StartPetServer();
  Smuggle(*server, "a", R"({"spec":{"species":"cat","names":["x","x"]}})");
  CHECK(server->Call("PATCH", kPet, R"({"metadata":{"labels":{"a":"b"}}})", kMerge).code == 200);
  CHECK(Refusal(server->Call("PATCH", kPet, R"({"spec":{"replicas":0}})", kMerge)) ==
        R"(422 Invalid: Pet.zoo.example.com "a" is invalid: spec.replicas: Invalid value: 0: )"
        R"(spec.replicas in body should be greater than or equal to 1)");
  REQUIRE(server->Call("PATCH", kPet, R"({"spec":{"names":["x"]}})", kMerge).code == 200);
  CHECK(Refusal(server->Call("PATCH", kPet, R"({"spec":{"names":["x","x"]}})", kMerge)) ==
        R"(422 Invalid: Pet.zoo.example.com "a" is invalid: spec.names[1]: Duplicate value: "x")");
}
