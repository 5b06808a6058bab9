#include <catch2/catch.hpp>
#include <random>
#include <string>

#include "apiserver/codec/json.h"
#include "apiserver/patch/apply/updater.h"
#include "codec/text.h"
#include "patch/apply/apply_types.h"

// What must hold whatever the objects are.
namespace apiserver::inline v0 {
namespace {

using namespace patch::apply;  // NOLINT: all of it is used.
using codec::testing::Json;
using runtime::Arena;
using runtime::Value;

// Objects of testing::ApplySchema(), from a seed. Their maps and lists are not empty: upstream
// knows no owner of an empty list that is a set or map, and leaves null where it empties something.
class Objects {
 public:
  Objects(unsigned seed, Arena& arena) : random_(seed), arena_(arena) {}

  Value Next() {
    runtime::MapBuilder root(arena_);
    if (Chance(3)) root.Add("extra", Text());
    runtime::MapBuilder spec(arena_);
    if (Chance(2)) spec.Add("replicas", Value::Int(Number(5)));
    if (Chance(2)) spec.Add("labels", Map());
    if (Chance(3)) spec.Add("atomic", Map());
    if (Chance(2)) spec.Add("set", Set());
    if (Chance(2)) spec.Add("containers", Containers());
    if (Chance(2)) spec.Add("any", Any(3));
    if (Chance(8)) spec.Add("raw", Any(2));
    if (spec.size() != 0) root.Add("spec", spec.Build());
    return root.Build();
  }

 private:
  int Number(int below) { return static_cast<int>(random_() % static_cast<unsigned>(below)); }
  bool Chance(int of) { return Number(of) == 0; }
  std::string_view Letter() {
    return arena_.Copy(std::string(1, static_cast<char>('a' + Number(5))));
  }
  Value Text() { return Value::String(Letter()); }

  Value Map() {
    runtime::MapBuilder map(arena_);
    for (const std::string_view key : {"a", "b", "c", "d"}) {
      if (Chance(2) || key == "d") map.Add(key, Text());
    }
    return map.Build();
  }
  Value Set() {
    runtime::ListBuilder set(arena_);
    for (const std::string_view key : {"c", "a", "e", "b"}) {
      if (Chance(2) || key == "e") set.Add(Value::String(key));
    }
    return set.Build();
  }
  Value Containers() {
    runtime::ListBuilder list(arena_);
    for (const std::string_view name : {"y", "x", "z"}) {
      if (Chance(2) && name != "x") continue;
      runtime::MapBuilder container(arena_);
      container.Add("name", Value::String(name));
      if (Chance(2)) container.Add("image", Text());
      if (Chance(2)) container.Add("args", Set());
      if (Chance(2)) container.Add("ports", Ports());
      list.Add(container.Build());
    }
    return list.Build();
  }
  Value Ports() {
    runtime::ListBuilder list(arena_);
    for (const int number : {1, 2}) {
      if (Chance(2) && number != 2) continue;
      runtime::MapBuilder port(arena_);
      port.Add("port", Value::Int(number));
      if (Chance(2)) port.Add("protocol", Value::String("UDP"));
      if (Chance(2)) port.Add("name", Text());
      list.Add(port.Build());
    }
    return list.Build();
  }
  Value Any(int depth) {
    if (depth == 0 || Chance(3)) return Chance(4) ? Value::Int(Number(3)) : Text();
    if (Chance(3)) return Set();
    runtime::MapBuilder map(arena_);
    for (const std::string_view key : {"k", "l"}) {
      if (Chance(2) || key == "l") map.Add(key, Any(depth - 1));
    }
    return map.Build();
  }

  std::mt19937 random_;
  Arena& arena_;
};

// Some writes, of which applies are forced, by three managers.
struct History {
  explicit History(unsigned seed) : objects(seed, arena), random(seed + 1) {}

  void Run(int writes) {
    for (int i = 0; i < writes; ++i) {
      const std::string manager(1, static_cast<char>('A' + random() % 3));
      const TypedValue next(objects.Next(), type);
      REQUIRE(next.Validate().ok());
      const TypedValue old(live, type);
      if (random() % 3 == 0) {
        const auto updated = updater.Update(
            old, next, {.version = "v1", .managers = managers, .manager = manager}, arena);
        REQUIRE(updated.ok());
        live = next.value();
        managers = *updated;
      } else {
        Apply(next, manager + " applies");
      }
    }
  }

  Updater::Applied Apply(const TypedValue& config, const std::string& manager) {
    const auto applied = updater.Apply(
        TypedValue(live, type), config,
        {.version = "v1", .managers = managers, .manager = manager, .force = true}, arena);
    REQUIRE(applied.ok());
    live = applied->object.value();
    managers = applied->managers;
    return *applied;
  }

  Arena arena;
  ParseableType type{testing::ApplySchema()};
  testing::OneTypeConverter converter{type};
  Updater updater{converter};
  Objects objects;
  std::mt19937 random;
  Value live;
  Managers managers;
};

TEST_CASE("patch.apply: applying twice is applying once", "[patch.apply]") {
  for (unsigned seed = 0; seed < 500; ++seed) {
    History history(seed);
    history.Run(4);
    const TypedValue config(history.objects.Next(), history.type);
    history.Apply(config, "A applies");
    const Value once = history.live;
    const Managers owners = history.managers;
    INFO("seed " << seed << ": " << Json(config.value()));
    CHECK_FALSE(history.Apply(config, "A applies").changed);
    CHECK(Json(history.live) == Json(once));
    CHECK(history.managers == owners);
  }
}

TEST_CASE("patch.apply: an applied object says what its config says", "[patch.apply]") {
  for (unsigned seed = 0; seed < 500; ++seed) {
    History history(seed);
    history.Run(4);
    const TypedValue config(history.objects.Next(), history.type);
    history.Apply(config, "A applies");
    const TypedValue live(history.live, history.type);
    REQUIRE(live.Validate().ok());
    INFO("seed " << seed << ": " << Json(config.value()) << " in " << Json(history.live));
    // Merging it in once more changes nothing.
    const auto again = live.Merge(config, history.arena);
    REQUIRE(again.ok());
    CHECK(ValuesEqual(again->value(), history.live));
  }
}

TEST_CASE("patch.apply: what all managers own together is the object", "[patch.apply]") {
  for (unsigned seed = 0; seed < 500; ++seed) {
    History history(seed);
    history.Run(6);
    FieldSet owned;
    for (const auto& [manager, set] : history.managers) {
      owned = owned.Union(set.set, history.arena);
    }
    const TypedValue live(history.live, history.type);
    const TypedValue rebuilt = live.ExtractItems(owned.Leaves(history.arena), history.arena);
    const auto all = live.ToFieldSet(history.arena);
    const auto there = rebuilt.ToFieldSet(history.arena);
    REQUIRE(all.ok());
    REQUIRE(there.ok());
    INFO("seed " << seed << ": " << Json(live.value()) << "\n" << Json(rebuilt.value()));
    const FieldSet lost = all->Difference(*there, history.arena);
    CHECK(lost.Intersection(owned, history.arena).ToString().empty());
    // What nobody owns was left by an apply that stopped mentioning a part others had written to.
    const auto changes = rebuilt.Compare(live, history.arena);
    REQUIRE(changes.ok());
    CHECK(changes->modified.Empty());
    CHECK(changes->removed.Empty());
  }
}

TEST_CASE("patch.apply: nobody owns what is not there", "[patch.apply]") {
  for (unsigned seed = 0; seed < 500; ++seed) {
    History history(seed);
    history.Run(6);
    const TypedValue live(history.live, history.type);
    const auto present = live.ToFieldSet(history.arena);
    REQUIRE(present.ok());
    const FieldSet all = EnsureNamedFieldsAreMembers(*present, history.type.type(), history.arena);
    for (const auto& [manager, owned] : history.managers) {
      CHECK_FALSE(owned.set.Empty());
      INFO("seed " << seed << ": " << manager << " in " << Json(history.live));
      CHECK(owned.set.Leaves(history.arena).Difference(all, history.arena).ToString().empty());
    }
  }
}

TEST_CASE("patch.apply: sets of all objects survive FieldsV1", "[patch.apply]") {
  for (unsigned seed = 0; seed < 500; ++seed) {
    Arena arena;
    Objects objects(seed, arena);
    const ParseableType type(testing::ApplySchema());
    const auto set = TypedValue(objects.Next(), type).ToFieldSet(arena);
    REQUIRE(set.ok());
    std::string json;
    AppendFieldsV1(*set, json);
    const auto back = DecodeFieldsV1(json, arena);
    REQUIRE(back.ok());
    CHECK(*back == *set);
    const auto parsed = codec::ParseJson(json, arena);
    REQUIRE(parsed.ok());
    const auto same = DecodeFieldsV1(*parsed, arena);
    REQUIRE(same.ok());
    CHECK(*same == *set);
  }
}

TEST_CASE("patch.apply: comparing tells what makes one object of another", "[patch.apply]") {
  for (unsigned seed = 0; seed < 500; ++seed) {
    Arena arena;
    Objects objects(seed, arena);
    const ParseableType type(testing::ApplySchema());
    const TypedValue a(objects.Next(), type);
    const TypedValue b(objects.Next(), type);
    const auto there = a.Compare(b, arena);
    const auto back = b.Compare(a, arena);
    REQUIRE(there.ok());
    REQUIRE(back.ok());
    CHECK(there->added == back->removed);
    CHECK(there->removed == back->added);
    CHECK(there->modified == back->modified);
    // An apply takes differences as a sign that the object has changed.
    CHECK((there->IsSame() || !ValuesEqual(a.value(), b.value())));
    CHECK(a.Compare(TypedValue(runtime::Copy(a.value(), arena), type), arena)->IsSame());
  }
}

}  // namespace
}  // namespace apiserver::inline v0
