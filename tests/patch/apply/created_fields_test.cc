// An object whose form was created before gets the fields that were found then. They must be those
// that comparing it with nothing gives.
#include "patch/apply/created_fields.h"

#include <random>

#include "field_manager_fixture.h"

namespace apiserver::inline v0::test {
namespace {

std::string Owners(const runtime::Object& object) {
  std::string json;
  codec::AppendJson(object.metadata()["managedFields"], json);
  return json;
}

class Creates {
 public:
  explicit Creates(runtime::KindPtr kind)
      : kind_(std::move(kind)), types_(std::make_shared<TypeConverter>(kind_)) {}

  std::string Create(std::string_view body, std::string_view manager = "m") {
    return CreateWith(manager_, body, manager);
  }
  std::string CreateAsFirst(std::string_view body, std::string_view manager = "m") const {
    return CreateWith(FieldManager({.types = types_, .version = "v1", .clock = &clock_}), body,
                      manager);
  }

 private:
  std::string CreateWith(const FieldManager& fields, std::string_view body,
                         std::string_view manager) const {
    runtime::Object object(kind_, "v1");
    const auto root = codec::ParseJson(body, object.arena());
    REQUIRE(root.ok());
    object.SetRoot(*root);
    fields.Update(Context::Background(), nullptr, object, manager);
    return Owners(object);
  }

  SteppedClock clock_;
  runtime::KindPtr kind_;
  TypeConverterPtr types_;
  FieldManager manager_{{.types = types_, .version = "v1", .clock = &clock_}};
};

std::string PodOf(std::string_view metadata, std::string_view containers) {
  return R"({"metadata":{"name":"p")" + std::string(metadata) + R"(},"spec":{"containers":[)" +
         std::string(containers) + "]}}";
}

std::string RandomPod(std::mt19937& random) {
  const auto below = [&random](unsigned end) { return random() % end; };
  std::string metadata;
  if (below(2) == 0) metadata += R"(,"labels":{"a":"1"})";
  if (below(3) == 0) metadata += below(2) == 0 ? R"(,"annotations":{})" : R"(,"annotations":null)";
  if (below(3) == 0) metadata += R"(,"finalizers":["f/)" + std::to_string(below(2)) + "\"]";
  std::string containers;
  for (unsigned i = 0; i < below(3); ++i) {
    containers.append(i == 0 ? "" : ",").append(R"({"name":"c)" + std::to_string(below(2)));
    containers.append(R"(","image":"i)" + std::to_string(below(2)) + "\"");
    if (below(3) == 0) {
      containers += R"(,"ports":[{"containerPort":)" + std::to_string(below(2)) + "}]";
    }
    containers += "}";
  }
  return PodOf(metadata, containers);
}

}  // namespace

TEST_CASE("apply: a create like one before it owns what the first one did", "[patch][apply]") {
  Creates creates(PodKind());
  const std::string first = creates.Create(PodOf(R"(,"labels":{"a":"1"})", R"({"name":"c"})"));
  CHECK(first.find(R"("f:labels":{".":{},"f:a":{}})") != std::string::npos);

  CHECK(creates.Create(PodOf(R"(,"labels":{"a":"2"})", R"({"name":"c"})")) == first);
  CHECK(creates.Create(PodOf(R"(,"labels":{"b":"2"})", R"({"name":"c"})")) != first);
  CHECK(creates.Create(PodOf(R"(,"labels":{"a":"2"})", R"({"name":"d"})")) != first);
  CHECK(creates.Create(PodOf(R"(,"labels":{"a":"2"})", R"({"name":"c"})"), "other") ==
        creates.CreateAsFirst(PodOf(R"(,"labels":{"a":"2"})", R"({"name":"c"})"), "other"));
}

TEST_CASE("apply: what creates before it were changes no create's owners", "[patch][apply]") {
  Creates creates(PodKind());
  std::mt19937 random(7);  // NOLINT: the same pods each time.
  for (int i = 0; i < 3'000; ++i) {
    const std::string pod = RandomPod(random);
    const std::string manager = i % 3 == 0 ? "a" : i % 3 == 1 ? "" : "\"\\é\xff";
    INFO(pod);
    REQUIRE(creates.Create(pod, manager) == creates.CreateAsFirst(pod, manager));
  }
}

TEST_CASE("apply: forms of objects differ where their fields may", "[patch][apply]") {
  const auto form = [](std::string_view json) {
    runtime::Arena arena;
    const auto value = codec::ParseJson(json, arena);
    REQUIRE(value.ok());
    return CreatedFields::FormOf(*value);
  };
  CHECK(form(R"({"a":"1","b":2})") == form(R"({"a":"22","b":3})"));
  const std::vector<std::string> others = {
      R"({"a":"1"})",       R"({"a":1})",           R"({"a":null})",        R"({"a":true})",
      R"({"a":1.5})",       R"({"a":{}})",          R"({"a":[]})",          R"({"a":[{}]})",
      R"({"a":[1]})",       R"({"a":[2]})",         R"({"a":["1"]})",       R"({"a":["2"]})",
      R"({"a":["1","2"]})", R"({"a":["12"]})",      R"({"a":[{"b":"1"}]})", R"({"a":[{"b":"2"}]})",
      R"({"a":{"b":"1"}})", R"({"a":"1","b":"1"})", R"({"a":[true]})",      R"({"a":[false]})",
      R"({"a":[1.5]})",     R"({"a":[2.5]})",       R"({"a":[[1],2]})",     R"({"a":[[1,2]]})",
      R"({"a":{"b":{}}})",  R"({"ab":"1"})",        R"({"a":{},"b":{}})",   R"({"a":[null]})"};
  for (std::size_t i = 0; i < others.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      INFO(others[i] << " " << others[j]);
      CHECK(form(others[i]) != form(others[j]));
    }
  }
  CHECK(form("{\"" + std::string(8'000, 'x') + "\":1}").empty());
}

TEST_CASE("apply: few forms are remembered, the latest", "[patch][apply]") {
  CreatedFields fields;
  fields.Add(std::string(32'000, 'x'), "{}");
  CHECK_FALSE(fields.Find(std::string(32'000, 'x')));
  for (int i = 0; i < 20; ++i) fields.Add(std::to_string(i), std::to_string(-i));
  CHECK_FALSE(fields.Find("0"));
  CHECK(fields.Find("19") == "-19");
  for (const char c : {'a', 'b', 'c'}) fields.Add(std::string(7'000, c), "{}");
  CHECK_FALSE(fields.Find("19"));
  CHECK_FALSE(fields.Find(std::string(7'000, 'a')));
  CHECK(fields.Find(std::string(7'000, 'c')));
}

}  // namespace apiserver::inline v0::test
