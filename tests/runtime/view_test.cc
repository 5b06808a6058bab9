#include "apiserver/runtime/view.h"

#include <catch2/catch.hpp>
#include <stdexcept>

using namespace apiserver::runtime;  // NOLINT: a test.
using Checked = BasicView<true>;
using Unchecked = BasicView<false>;

namespace {

std::unique_ptr<Object> Pet() {
  const auto toy = StructBuilder("").Field("name", StringSchema()).Build();
  const auto spec = StructBuilder("")
                        .Field("replicas", IntegerSchema(32))
                        .Field("species", StringSchema())
                        .Field("toys", ListOf(toy))
                        .Build();
  const auto schema =
      StructBuilder("").Field("metadata", ObjectMetaSchema()).Field("spec", spec).Build();
  const auto kind = Kind::New({.group = "zoo.example.com",
                               .kind = "Pet",
                               .plural = "pets",
                               .versions = {{.version = "v1", .schema = schema}}});
  return std::make_unique<Object>(kind.value(), "v1");
}

template <class View>
void CheckReads(const Object& pet) {
  const View view(pet);
  CHECK(view["metadata"]["name"].AsString() == "tom");
  CHECK(view["metadata"]["labels"]["any"].is_null());
  CHECK(view["spec"]["replicas"].AsInt() == 3);
  CHECK(view["spec"]["species"].AsString().empty());
  CHECK(view["spec"]["replicas"].value() == Value::Int(3));
  REQUIRE(view["spec"]["toys"].size() == 1);
  CHECK(view["spec"]["toys"].at(0)["name"].AsString() == "ball");
  CHECK(view["spec"]["toys"].at(1)["name"].is_null());
}

void Fill(Object& pet) {
  pet.Edit("metadata", "name") = "tom";
  pet.Edit("spec", "replicas") = 3;
  MapBuilder toy(pet.arena());
  toy.Add("name", Value::String("ball"));
  ListBuilder toys(pet.arena());
  toys.Add(toy.Build());
  pet.Edit("spec", "toys") = toys.Build();
}

}  // namespace

TEST_CASE("runtime: a view reads what the Schema has, absent members as null", "[runtime]") {
  const auto pet = Pet();
  Fill(*pet);
  CheckReads<Checked>(*pet);
  CheckReads<Unchecked>(*pet);
}

TEST_CASE("runtime: a checked view refuses a path that the Schema does not have", "[runtime]") {
  const auto pet = Pet();
  Fill(*pet);
  const Checked view(*pet);
  CHECK_THROWS_WITH(view["spec"]["replica"],
                    "reading Pet zoo.example.com/v1: spec.replica: there is no field \"replica\" "
                    "(there are replicas, species, toys)");
  CHECK_THROWS_AS(view["spce"], std::logic_error);
  CHECK_THROWS_WITH(view["spec"]["toys"].at(0)["nmae"],
                    "reading Pet zoo.example.com/v1: spec.toys[].nmae: there is no field \"nmae\" "
                    "(there are name)");
  CHECK_THROWS_WITH(view["spec"]["species"].at(0),
                    "reading Pet zoo.example.com/v1: spec.species[]: a value of type string has no "
                    "items");
  // An empty object is judged in the same way: its Schema counts.
  CHECK_THROWS_AS(Checked(*Pet())["spec"]["replica"], std::logic_error);
}

TEST_CASE("runtime: an unchecked view costs nothing and reads a wrong path as null", "[runtime]") {
  const auto pet = Pet();
  CHECK(Unchecked(*pet)["spec"]["replica"].is_null());
  CHECK(sizeof(Unchecked) == sizeof(Value));
#ifdef NDEBUG
  CHECK(std::is_same_v<View, Unchecked>);
#else
  CHECK(std::is_same_v<View, Checked>);
#endif
}

TEST_CASE("runtime: a checked view lets anything pass that no Schema describes", "[runtime]") {
  const Object thing(Kind::Untyped({"", "v1", "Thing"}), "v1");
  CHECK(Checked(thing)["spec"]["any"].at(3)["more"].is_null());
}
