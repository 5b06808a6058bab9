#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <string>

#include "apiserver/patch/apply/updater.h"
#include "patch/apply/upstream.h"
#include "patch/apply/upstream_converters.h"

// structured-merge-diff/merge: TestDeduced, TestDefaultKeys*, TestDuplicates, TestExtractApply,
// TestFieldLevelOverrides, TestIgnoreFilter, TestIgnoredFields, TestFilteredFieldsUsesVersions,
// TestUpdate*, TestMultipleAppliers*, TestVersionDoesntMatchTypename, TestObsoleteVersions,
// TestApplyObsoleteVersion, TestPreserveUnknownFields, Test*SchemaChanges,
// TestPromoteFieldToAssociativeListKey.
namespace apiserver::inline v0 {
namespace {

using patch::apply::FieldFilter;
using patch::apply::FieldFilters;
using patch::apply::Managers;
using patch::apply::ParseableType;
using patch::apply::TypedValue;
using patch::apply::Updater;
using runtime::Arena;
using runtime::Member;
using runtime::Value;
using testing::Encoded;
using testing::JsonOf;
using testing::SetIn;

Managers ManagersIn(Value recorded, Arena& arena) {
  Managers managers;
  for (const Member& member : recorded.members()) {
    managers.emplace(std::string(member.key), patch::apply::VersionedSet{
                                                  SetIn(member.value["set"], arena),
                                                  std::string(member.value["version"].AsString()),
                                                  member.value["applied"].AsBool(),
                                              });
  }
  return managers;
}

std::string Printed(const Managers& managers) {
  std::string out;
  for (const auto& [manager, owned] : managers) {
    out += manager + " " + owned.api_version + (owned.applied ? " applied " : " updated ") +
           Encoded(owned.set) + "\n";
  }
  return out;
}

// The tests of one Go test function: what one step leaves behind, the next one finds.
class Replay {
 public:
  explicit Replay(testing::Recording& recording) : recording_(recording) {}

  void Step(const std::string& test, Value step) {
    if (test != test_) {
      test_ = test;
      live_ = managers_ = Value();
    }
    const std::string op(step["op"].AsString());
    if (op != "apply" && op != "update") return;
    if (const Value* live = step.Find("live")) live_ = *live;
    if (const Value* managers = step.Find("managersBefore")) managers_ = *managers;
    if (op == "apply") {
      Apply(step);
    } else {
      Update(step);
    }
    if (step["error"].is_string()) return;
    if (step["changed"].AsBool()) live_ = step["result"];
    managers_ = step["managers"];
  }

 private:
  Updater::Write WriteOf(Value step, Arena& arena) const {
    return {.version = step["version"].AsString(),
            .managers = ManagersIn(managers_, arena),
            .manager = step["manager"].AsString(),
            .force = step["force"].AsBool()};
  }

  static FieldFilters FiltersOf(Value step, Arena& arena) {
    FieldFilters filters;
    for (const Member& member : step["filters"].members()) {
      filters.emplace(std::string(member.key),
                      FieldFilter::Exclude(SetIn(member.value["exclude"], arena)));
    }
    return filters;
  }

  static std::vector<std::string> Sorted(std::vector<std::string> texts) {
    std::sort(texts.begin(), texts.end());
    return texts;
  }

  void Apply(Value step) {
    Arena arena;
    const ParseableType* const type = recording_.TypeOf(step);
    REQUIRE(type != nullptr);
    const auto converter = ConverterOf(step, recording_);
    const FieldFilters filters = FiltersOf(step, arena);
    const Updater updater(*converter, &filters);
    const auto applied = updater.Apply(TypedValue(live_, *type), TypedValue(step["object"], *type),
                                       WriteOf(step, arena), arena);
    std::vector<std::string> wanted;
    for (const Value& conflict : step["conflicts"].items()) {
      wanted.push_back(std::string(conflict.at(0).AsString()) + " " +
                       std::string(conflict.at(1).AsString()));
    }
    if (step["error"].is_string() && wanted.empty()) {
      CHECK(applied.status().message() == step["error"].AsString());
      return;
    }
    REQUIRE(applied.ok());
    std::vector<std::string> got;
    for (const auto& conflict : applied->conflicts) {
      got.push_back(conflict.manager + " " + PathString(conflict.path));
    }
    CHECK(Sorted(got) == Sorted(wanted));
    if (!wanted.empty()) {
      CHECK(ConflictsMessage(applied->conflicts) == step["error"].AsString());
      return;
    }
    CHECK(Printed(applied->managers) == Printed(ManagersIn(step["managers"], arena)));
    INFO(JsonOf(applied->object.value()));
    if (!step["returnInputOnNoop"].AsBool()) CHECK(applied->changed == step["changed"].AsBool());
    CHECK(patch::apply::ValuesEqual(applied->object.value(),
                                    step["changed"].AsBool() ? step["result"] : live_));
  }

  void Update(Value step) {
    Arena arena;
    const ParseableType* const type = recording_.TypeOf(step);
    REQUIRE(type != nullptr);
    const auto converter = ConverterOf(step, recording_);
    const FieldFilters filters = FiltersOf(step, arena);
    const Updater updater(*converter, &filters);
    const auto managers = updater.Update(
        TypedValue(live_, *type), TypedValue(step["object"], *type), WriteOf(step, arena), arena);
    CHECK(managers.status().message() == step["error"].AsString());
    if (!managers.ok()) return;
    CHECK(Printed(*managers) == Printed(ManagersIn(step["managers"], arena)));
  }

  testing::Recording& recording_;
  std::string test_;
  Value live_;
  Value managers_;
};

std::size_t ReplayAll(std::string_view package) {
  testing::Recording recording(package);
  Replay replay(recording);
  std::size_t tests = 0;
  for (const std::string& function : recording.Functions()) {
    tests += recording.Each(function, [&](const std::string& test, Value step) {
      INFO(test << ": " << JsonOf(step));
      replay.Step(test, step);
    });
  }
  return tests;
}

TEST_CASE("patch.apply: updates and applies end as upstream's do", "[patch.apply][upstream]") {
  CHECK(ReplayAll("merge") == 319);
}

// Objects with empty and null parts, items that are there twice, conflicts and everything pruned.
TEST_CASE("patch.apply: random writes end as upstream's do", "[patch.apply][upstream]") {
  CHECK(ReplayAll("random") == 52);
}

}  // namespace
}  // namespace apiserver::inline v0
