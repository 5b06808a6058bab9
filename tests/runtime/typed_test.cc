#include "apiserver/runtime/typed.h"

#include <catch2/catch.hpp>

#include "apiserver/runtime/typed_meta.h"
#include "runtime/text.h"

// Structs as apiserver-gen writes them: read, changed, written over the object that they came from.
namespace apiserver::inline v0::runtime::testing {
namespace {

struct Toy {
  std::string name;
  std::optional<std::int32_t> noise;
  friend bool operator==(const Toy&, const Toy&) = default;
  template <class Fields>
  static void ForEachField(const Fields& fields) {
    fields("name", &Toy::name);
    fields("noise", &Toy::noise);
  }
};

struct Spec {
  std::string species;
  std::optional<std::int32_t> replicas;
  std::optional<bool> indoor;
  std::optional<double> weight;
  std::vector<Toy> toys;
  std::vector<Toy> shared;
  std::vector<bool> flags;
  std::vector<std::string> names;
  std::map<std::string, Toy> by_room;
  std::optional<Quantity> food;
  std::optional<typed::IntOrString> port;
  std::optional<std::chrono::nanoseconds> nap;
  std::optional<typed::Bytes> picture;
  std::optional<typed::MicroTime> seen;
  typed::Any extra;
  friend bool operator==(const Spec&, const Spec&) = default;
  template <class Fields>
  static void ForEachField(const Fields& fields) {
    fields("species", &Spec::species);
    fields("replicas", &Spec::replicas);
    fields("indoor", &Spec::indoor);
    fields("weight", &Spec::weight);
    fields("toys", &Spec::toys, typed::FieldOptions{.keys = {"name"}});
    fields("shared", &Spec::shared);
    fields("flags", &Spec::flags);
    fields("names", &Spec::names, typed::FieldOptions{.required = true});
    fields("byRoom", &Spec::by_room);
    fields("food", &Spec::food);
    fields("port", &Spec::port);
    fields("nap", &Spec::nap);
    fields("picture", &Spec::picture);
    fields("seen", &Spec::seen);
    fields("extra", &Spec::extra);
  }
};

struct Pet {
  static constexpr std::string_view kGroup = "example.com";
  static constexpr std::string_view kVersion = "v1";
  static constexpr std::string_view kKind = "Widget";
  ObjectMeta metadata;
  Spec spec;
  friend bool operator==(const Pet&, const Pet&) = default;
  template <class Fields>
  static void ForEachField(const Fields& fields) {
    fields("metadata", &Pet::metadata);
    fields("spec", &Pet::spec);
  }
};

KindPtr PetKind() { return WidgetKind(WithSpec(AnySchema())); }

std::unique_ptr<Object> PetWith(std::string_view spec) {
  return ObjectOf(PetKind(), R"({"metadata":{"name":"tom"},"spec":)" + std::string(spec) + "}");
}

Pet Read(const Object& object) {
  auto pet = FromObject<Pet>(object);
  INFO(pet.status().ToString());
  REQUIRE(pet.ok());
  return *pet;
}

std::string Refused(std::string_view spec) {
  return std::string(FromObject<Pet>(*PetWith(spec)).status().message());
}

constexpr const char* kFull =
    R"({"species":"cat","replicas":0,"indoor":false,"weight":4,"toys":[{"name":"ball","noise":3}],)"
    R"("flags":[true,false],"names":["tom"],"byRoom":{"hall":{"name":"box"}},"food":"1500m",)"
    R"("port":"http","nap":"1h0m0s","picture":"AQI=","seen":"2026-01-02T03:04:05.000006Z",)"
    R"("extra":{"a":[1,null]}})";

TEST_CASE("runtime: a struct has what the object says", "[runtime]") {
  const Pet pet = Read(*PetWith(kFull));
  CHECK(pet.metadata.name == "tom");
  CHECK(pet.spec.species == "cat");
  CHECK(pet.spec.replicas == 0);
  CHECK(pet.spec.indoor == false);
  CHECK(pet.spec.weight == 4);
  CHECK(pet.spec.toys == std::vector<Toy>{{"ball", 3}});
  CHECK(pet.spec.shared.empty());
  CHECK(pet.spec.flags == std::vector<bool>{true, false});
  CHECK(pet.spec.by_room.at("hall").name == "box");
  CHECK(pet.spec.food->MilliValue() == 1500);
  CHECK(std::get<std::string>(*pet.spec.port) == "http");
  CHECK(pet.spec.nap == std::chrono::hours(1));
  CHECK(pet.spec.picture->bytes == "\x01\x02");
  CHECK(pet.spec.seen->time.nanos == 6000);
  CHECK(Print(pet.spec.extra.value.get()) == R"({"a":[1,null]})");
}

TEST_CASE("runtime: a struct that is not changed changes nothing", "[runtime]") {
  for (const char* spec : {kFull, R"({"species":"cat","toys":[],"names":[]})", R"({"names":[]})",
                           R"({"names":[],"weight":4,"food":"1.5"})"}) {
    const auto object = PetWith(spec);
    const std::string before = Print(*object);
    const Pet pet = Read(*object);
    REQUIRE(ToObject(pet, *object).ok());
    CHECK(Print(*object) == before);
  }
}

TEST_CASE("runtime: what a struct does not know stays when it is written back", "[runtime]") {
  const auto object = PetWith(
      R"({"new":1,"names":[],"toys":[{"name":"a","noise":1,"color":"red"},{"name":"b","new":2}],)"
      R"("byRoom":{"hall":{"name":"x","new":3},"attic":{"name":"y"}}})");
  Pet pet = Read(*object);
  pet.spec.toys[0].noise = 5;
  std::swap(pet.spec.toys[0], pet.spec.toys[1]);
  pet.spec.toys.push_back({"c", std::nullopt});
  pet.spec.by_room.at("hall").noise = 9;
  pet.spec.by_room.erase("attic");
  REQUIRE(ToObject(pet, *object).ok());
  CHECK(Print((*object)["spec"]) ==
        R"({"new":1,"names":[],"toys":[{"name":"b","new":2},{"name":"a","noise":5,"color":"red"},)"
        R"({"name":"c"}],"byRoom":{"hall":{"name":"x","new":3,"noise":9}},"species":""})");
}

TEST_CASE("runtime: an item without keys takes nothing from another in its place", "[runtime]") {
  const auto object =
      PetWith(R"({"species":"","names":[],"shared":[{"name":"a","new":1},{"name":"b","new":2}]})");
  Pet pet = Read(*object);
  pet.spec.shared[1].name = "c";
  REQUIRE(ToObject(pet, *object).ok());
  CHECK(Print((*object)["spec"]["shared"]) == R"([{"name":"a","new":1},{"name":"c"}])");
}

TEST_CASE("runtime: what a struct no longer has leaves the object", "[runtime]") {
  const auto object = PetWith(kFull);
  Pet pet = Read(*object);
  pet.spec = {};
  REQUIRE(ToObject(pet, *object).ok());
  CHECK(Print((*object)["spec"]) == R"({"species":"","names":[]})");
}

TEST_CASE("runtime: a member of another type is refused by its path", "[runtime]") {
  CHECK(Refused(R"({"replicas":"3"})") == "Widget spec.replicas is a text, not an integer");
  CHECK(Refused(R"({"replicas":1.5})") == "Widget spec.replicas is a number, not an integer");
  CHECK(Refused(R"({"replicas":3000000000})") ==
        "Widget spec.replicas is too large for its type: 3000000000");
  CHECK(Refused(R"({"toys":[{"name":"a"},{"name":7}]})") ==
        "Widget spec.toys[1].name is a number, not a text");
  CHECK(Refused(R"({"names":[],"byRoom":{"hall":[]}})") ==
        "Widget spec.byRoom[hall] is a list, not an object");
  CHECK(Refused(R"({"toys":{}})") == "Widget spec.toys is an object, not a list");
  CHECK(Refused(R"({"names":[],"picture":"*"})") == "Widget spec.picture is no base64");
  CHECK(Refused(R"({"names":[],"nap":"soon"})").starts_with("Widget spec.nap cannot be read: "));
  CHECK(Refused(R"(7)") == "Widget spec is a number, not an object");
  CHECK(FromValue<std::int64_t>(Value::Bool(true)).status().message() ==
        "value is a boolean, not an integer");
}

struct Bowl {
  std::string food;
  std::optional<std::string> drink;
  UnixTime filled;
  friend bool operator==(const Bowl&, const Bowl&) = default;
  template <class Fields>
  static void ForEachField(const Fields& fields) {
    fields("food", &Bowl::food, typed::FieldOptions{.required = true});
    fields("drink", &Bowl::drink);
    fields("filled", &Bowl::filled, typed::FieldOptions{.required = true});
  }
};

struct Kitchen {
  Bowl first;
  std::vector<Bowl> bowls;
  std::map<std::string, Bowl> by_cat;
  friend bool operator==(const Kitchen&, const Kitchen&) = default;
  template <class Fields>
  static void ForEachField(const Fields& fields) {
    fields("first", &Kitchen::first);
    fields("bowls", &Kitchen::bowls);
    fields("byCat", &Kitchen::by_cat, typed::FieldOptions{.required = true});
  }
};

TEST_CASE("runtime: a required member that is absent is refused by its path", "[runtime]") {
  Arena arena;
  const auto problem = [&](std::string_view json, typed::Missing missing) {
    const auto read = FromValue<Kitchen>(Parse(json, arena), missing);
    return std::string(read.status().message());
  };
  struct Row {
    const char* json;
    const char* problem;
  };
  const std::vector<Row> rows{
      {R"({"byCat":{}})", ""},
      {R"({})", "value byCat is required, but absent"},
      // Null is a value that some members may have.
      {R"({"byCat":null})", ""},
      {R"({"byCat":{},"first":{"food":"","filled":null}})", ""},
      {R"({"byCat":{},"first":{"filled":null}})", "value first.food is required, but absent"},
      {R"({"byCat":{},"first":{}})", "value first.food is required, but absent"},
      {R"({"byCat":{},"first":{"food":"fish"}})", "value first.filled is required, but absent"},
      {R"({"byCat":{},"bowls":[{"food":"","filled":null},{"drink":"milk"}]})",
       "value bowls[1].food is required, but absent"},
      {R"({"byCat":{},"bowls":[null]})", "value bowls[0].food is required, but absent"},
      {R"({"byCat":{"tom":{}}})", "value byCat[tom].food is required, but absent"},
  };
  for (const Row& row : rows) {
    INFO(row.json);
    CHECK(problem(row.json, typed::Missing::kRefused) == row.problem);
    CHECK(problem(row.json, typed::Missing::kZero).empty());
  }
  // Other mistakes are refused all the same.
  CHECK(problem(R"({"bowls":3})", typed::Missing::kZero) == "value bowls is a number, not a list");
  CHECK(Refused("{}") == "Widget spec.names is required, but absent");
  CHECK(FromObject<Pet>(*PetWith("{}"), typed::Missing::kZero).ok());
}

TEST_CASE("runtime: what a lenient read lacks stays absent when nothing has changed", "[runtime]") {
  const auto object = PetWith(R"({"species":"cat"})");
  const std::string before = Print(*object);
  auto pet = FromObject<Pet>(*object, typed::Missing::kZero);
  REQUIRE(pet.ok());
  REQUIRE(ToObject(*pet, *object).ok());
  CHECK(Print(*object) == before);
  pet->spec.replicas = 2;
  REQUIRE(ToObject(*pet, *object).ok());
  CHECK(Print((*object)["spec"]) == R"({"species":"cat","replicas":2,"names":[]})");
}

TEST_CASE("runtime: an object of another kind is neither read nor written", "[runtime]") {
  const Object other(Kind::Untyped({"example.com", "v2", "Widget"}), "v2");
  CHECK(FromObject<Pet>(other).status().message() ==
        "the object is a example.com/v2, Kind=Widget, not a example.com/v1, Kind=Widget");
  Object written(Kind::Untyped({"example.com", "v2", "Widget"}), "v2");
  CHECK_FALSE(ToObject(Pet{}, written).ok());
  CHECK(written.root().size() == 0);
  CHECK_FALSE(NewObject(Pet{}, other.kind_ptr()).ok());
}

TEST_CASE("runtime: a new object has what the struct says", "[runtime]") {
  Pet pet;
  pet.metadata.name = "tom";
  pet.metadata.namespace_ = "home";
  pet.metadata.labels["a"] = "b";
  pet.metadata.ownerReferences.push_back({.kind = "Owner", .uid = "1", .controller = true});
  pet.spec.port = typed::IntOrString(std::int64_t{80});
  pet.spec.seen = typed::MicroTime{UnixTime{0, 1000}};
  const auto object = NewObject(pet, PetKind());
  REQUIRE(object.ok());
  CHECK((*object)->namespace_() == "home");
  CHECK(Print((*object)->root()) ==
        R"({"metadata":{"name":"tom","namespace":"home","labels":{"a":"b"},"ownerReferences":)"
        R"([{"apiVersion":"","kind":"Owner","name":"","uid":"1","controller":true}]},"spec":)"
        R"({"species":"","names":[],"port":80,"seen":"1970-01-01T00:00:00.000001Z"}})");
  CHECK(Read(**object) == pet);
}

}  // namespace
}  // namespace apiserver::inline v0::runtime::testing
