#include "apiserver/patch/apply/updater.h"

#include <catch2/catch.hpp>
#include <string>

#include "apiserver/codec/json.h"
#include "codec/text.h"
#include "patch/apply/apply_types.h"

namespace apiserver::inline v0 {
namespace {

using namespace patch::apply;  // NOLINT: all of it is used.
using codec::testing::Json;
using runtime::Arena;
using runtime::Value;

Value Parse(const std::string& json, Arena& arena) {
  const auto value = codec::ParseJson(arena.Copy(json), arena);
  REQUIRE(value.ok());
  return *value;
}

struct Thing {
  explicit Thing(const FieldFilters* filters = nullptr) : updater(converter, filters) {}

  std::string Apply(const std::string& config, const std::string& manager,
                    const std::string& version = "v1") {
    const auto applied =
        updater.Apply(TypedValue(live, type), TypedValue(Parse(config, arena), type),
                      {.version = version, .managers = managers, .manager = manager}, arena);
    if (!applied.ok()) return std::string(applied.status().message());
    if (!applied->conflicts.empty()) return ConflictsMessage(applied->conflicts);
    live = applied->object.value();
    managers = applied->managers;
    return Json(live);
  }

  Arena arena;
  ParseableType type{testing::ApplySchema()};
  testing::OneTypeConverter converter{type};
  Updater updater;
  Value live;
  Managers managers;
};

// merge.TestNewFromSets
TEST_CASE("patch.apply: conflicts are told by manager, in order", "[patch.apply]") {
  Arena arena;
  const auto field = [](std::string_view name) { return PathElement::FieldName(name); };
  CHECK(ConflictsMessage(std::vector<Conflict>{{"Bob", {field("spec"), field("key")}}}) ==
        R"(conflict with "Bob": .spec.key)");
  const Value key = Parse(R"({"id":2,"key":"a"})", arena);
  const Path item{field("list"), PathElement::Key(key.members())};
  Path id = item;
  id.push_back(field("id"));
  CHECK(ConflictsMessage(std::vector<Conflict>{
            {"Bob", {field("key")}}, {"Bob", id}, {"Alice", {field("value")}}}) ==
        "conflicts with \"Alice\":\n- .value\nconflicts with \"Bob\":\n- .key\n- "
        ".list[id=2,key=\"a\"].id");
}

TEST_CASE("patch.apply: what others own is refused, and theirs stays", "[patch.apply]") {
  Thing thing;
  thing.Apply(R"({"spec":{"replicas":1,"set":["a"]}})", "one");
  CHECK(thing.Apply(R"({"spec":{"replicas":2}})", "two") ==
        R"(conflict with "one": .spec.replicas)");
  CHECK(thing.Apply(R"({"spec":{"set":["b"]}})", "two") ==
        R"({"spec":{"replicas":1,"set":["a","b"]}})");
  CHECK(thing.managers.at("one").set.Size() == 2);
}

TEST_CASE("patch.apply: who owned something in a version that is gone owns nothing",
          "[patch.apply]") {
  Thing thing;
  thing.Apply(R"({"spec":{"replicas":1}})", "one");
  thing.managers.at("one").api_version = "gone";
  CHECK(thing.Apply(R"({"spec":{"replicas":2}})", "two") == R"({"spec":{"replicas":2}})");
  CHECK(thing.managers.size() == 1);
  CHECK(thing.managers.contains("two"));
}

// As the Go Updater answers to the same: items of which nobody owns the key stay known as items.
TEST_CASE("patch.apply: a filter that keeps items but not their keys loses no list",
          "[patch.apply]") {
  const auto field = [](std::string_view name) { return PathElement::FieldName(name); };
  const std::vector<FieldPattern> patterns{
      {field("spec"), field("containers"), std::nullopt, field("ports")}};
  const FieldFilters filters{{"v1", FieldFilter::Include(patterns)}};
  Thing thing(&filters);
  thing.Apply(R"({"spec":{"replicas":1,"containers":[{"name":"y","ports":[{"port":3}]}]}})", "one");
  CHECK(thing.Apply(R"({"spec":{"containers":[{"name":"x","ports":[{"port":1}]}]}})", "one") ==
        R"({"spec":{"replicas":1,"containers":[{"name":"x","ports":[{"port":1}]}]}})");
}

}  // namespace
}  // namespace apiserver::inline v0
