#include <catch2/catch.hpp>

#include "apiserver/codec/json.h"
#include "apiserver/codec/schema_loader.h"
#include "definitions.h"
#include "served.h"
#include "zoo.h"

// The structs of pets.yaml and odd.yaml: they compile, and say what the objects say.
namespace {

using namespace apiserver;  // NOLINT: a test.

std::string Print(const runtime::Object& object) {
  std::string json;
  codec::AppendJson(object.root(), json);
  return json;
}

TEST_CASE("generator: a struct of a CustomResourceDefinition is read and written", "[generator]") {
  const auto kind = runtime::Kind::Untyped({"zoo.example.com", "v1", "Pet"});
  zoo::v1::Pet pet;
  pet.metadata.name = "tom";
  pet.spec.species = "cat";
  pet.spec.replicas = 2;
  const auto object = runtime::NewObject(pet, kind);
  REQUIRE(object.ok());
  CHECK(Print(**object) == R"({"metadata":{"name":"tom"},"spec":{"species":"cat","replicas":2}})");
  auto read = runtime::FromObject<zoo::v1::Pet>(**object);
  REQUIRE(read.ok());
  CHECK(*read == pet);
  read->status.emplace().mood = "content";
  REQUIRE(runtime::ToObject(*read, **object).ok());
  CHECK((**object)["status"]["mood"].AsString() == "content");
  CHECK(zoo::v1::Pet::Path::kSpecReplicas == "spec.replicas");
}

TEST_CASE("generator: an object without a required field is refused, unless it may lack it",
          "[generator]") {
  runtime::Object object(runtime::Kind::Untyped({"zoo.example.com", "v1", "Pet"}), "v1");
  CHECK(runtime::FromObject<zoo::v1::Pet>(object).status().message() ==
        "Pet spec is required, but absent");
  object.Edit("spec", "replicas") = 2;
  CHECK(runtime::FromObject<zoo::v1::Pet>(object).status().message() ==
        "Pet spec.species is required, but absent");
  const auto lenient = runtime::FromObject<zoo::v1::Pet>(object, runtime::typed::Missing::kZero);
  REQUIRE(lenient.ok());
  CHECK(lenient->spec.species.empty());
  CHECK(lenient->spec.replicas == 2);
}

TEST_CASE("generator: names that C++ would not take have others", "[generator]") {
  zoo::v1::Odd odd;
  odd.Odd_2 = "of the struct's name";
  odd.Path_2 = "of the paths' name";
  odd.class_ = "keyword";
  odd.errno_ = 1;
  odd.field9_lives = true;
  odd.a_b = "a-b";
  odd.a_b_2 = "a.b";
  odd.a_b_3 = "a_b";
  odd.say_hi_ = "quoted";
  odd.lists = {{{.deep = 1.5}}, {}};
  odd.named = {{.name = "x", .more = {}}};
  odd.maps["m"] = {std::int64_t{1}, std::string("a")};
  odd.template_.emplace().maybe = "y";
  const auto object =
      runtime::NewObject(odd, runtime::Kind::Untyped({"zoo.example.com", "v1", "Odd"}));
  REQUIRE(object.ok());
  CHECK((**object)["Odd"].AsString() == "of the struct's name");
  CHECK((**object)["class"].AsString() == "keyword");
  CHECK((**object)["9-lives"].AsBool());
  CHECK((**object)["say \"hi\""].AsString() == "quoted");
  CHECK((**object)["lists"].at(0).at(0)["deep"].AsDouble() == 1.5);
  CHECK((**object)["lists"].size() == 2);
  CHECK((**object)["maps"]["m"].at(1).AsString() == "a");
  CHECK(runtime::FromObject<zoo::v1::Odd>(**object).value() == odd);
}

TEST_CASE("generator: definitions of an OpenAPI document are structs that kinds share",
          "[generator]") {
  zoo::served::v1::Cage cage;
  cage.metadata.name = "big";
  zoo::served::v1::CageSpec& spec = cage.spec;
  spec.bowls.push_back({.name = "water", .holds = runtime::Quantity::Parse("1500m").value()});
  spec.door = runtime::typed::IntOrString(std::string("glass"));
  spec.cleaned = runtime::UnixTime{1, 0};
  const auto object =
      runtime::NewObject(cage, runtime::Kind::Untyped({"zoo.example.com", "v1", "Cage"}));
  REQUIRE(object.ok());
  CHECK(Print(**object) ==
        R"({"metadata":{"name":"big"},"spec":{"bowls":[{"name":"water","holds":"1500m"}],)"
        R"("door":"glass","cleaned":"1970-01-01T00:00:01Z"}})");
  CHECK(runtime::FromObject<zoo::served::v1::Cage>(**object).value() == cage);
  zoo::served::v1::Mouse mouse;
  mouse.bowl = spec.bowls.front();
  CHECK(zoo::served::v1::Cage::Path::kSpecDoor == "spec.door");

  // A document of a kube-apiserver, with definitions within themselves.
  definitions::v1::CustomResourceDefinition crd;
  crd.spec.versions.push_back({.name = "v1", .served = true});
  definitions::v1::JSONSchemaProps schema{.type = "object"};
  crd.spec.versions.front().schema.emplace().openAPIV3Schema = schema;
  const auto written = runtime::NewObject(
      crd, runtime::Kind::Untyped({"apiextensions.k8s.io", "v1", "CustomResourceDefinition"}));
  REQUIRE(written.ok());
  CHECK((**written)["spec"]["versions"].at(0)["schema"]["openAPIV3Schema"]["type"].AsString() ==
        "object");
}

}  // namespace
