#include <algorithm>
#include <catch2/catch.hpp>
#include <set>
#include <string>
#include <vector>

#include "apiserver/patch/apply/typed.h"
#include "patch/apply/upstream.h"

// structured-merge-diff/typed: TestValidateDeducedType, TestMergeDeduced, TestToSetDeduced,
// TestSymdiffDeduced, TestInvalidOverride, TestMerge, TestReconcileFieldSetWithSchema, TestRemove,
// TestReversibleExtract, TestExtractWithKeys, TestSymdiff, TestToFieldSet, TestSchemaValidation.
namespace apiserver::inline v0 {
namespace {

using patch::apply::FieldSet;
using patch::apply::ParseableType;
using patch::apply::TypedValue;
using runtime::Arena;
using runtime::Value;
using testing::Encoded;
using testing::JsonOf;
using testing::SetIn;

// Upstream's tests read YAML, whose maps and ints are of other Go types than JSON's.
std::string AsOfJson(std::string_view error) {
  std::string text(error);
  const auto replace = [&text](std::string_view from, std::string_view to) {
    for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at)) {
      text.replace(at, from.size(), to);
      at += to.size();
    }
  };
  replace("map[interface {}]interface {}", "map[string]interface {}");
  if (text.ends_with("got int")) text += "64";
  return text;
}

// Upstream goes through maps in Go's order, which is none.
std::vector<std::string> Lines(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  std::sort(lines.begin(), lines.end());
  return lines;
}

template <class T>
void CheckError(const Result<T>& result, Value step) {
  CHECK(Lines(result.status().message()) == Lines(AsOfJson(step["error"].AsString())));
}

void CheckCompare(const TypedValue& value, const TypedValue& other, Value step, Arena& arena) {
  const auto result = value.Compare(other, arena);
  CheckError(result, step);
  if (!result.ok()) return;
  CHECK(Encoded(result->removed) == JsonOf(step["removed"]));
  CHECK(Encoded(result->modified) == JsonOf(step["modified"]));
  CHECK(Encoded(result->added) == JsonOf(step["added"]));
  CHECK(result->ToString() == step["text"].AsString());
}

void CheckItems(const TypedValue& value, Value step, Arena& arena) {
  const FieldSet set = SetIn(step["set"], arena);
  const bool extract = step["op"].AsString() == "extract";
  const TypedValue result =
      extract ? value.ExtractItems(set, arena, {.append_key_fields = step["keys"].AsBool()})
              : value.RemoveItems(set, arena);
  INFO(JsonOf(result.value()));
  CHECK(patch::apply::ValuesEqual(result.value(), step["result"]));
}

void CheckStep(const ParseableType& type, Value step, Arena& arena) {
  const std::string op(step["op"].AsString());
  const TypedValue value(step["value"], type);
  const TypedValue other(step["other"], type);
  if (op == "validate") {
    const Status status = value.Validate({.allow_duplicates = step["duplicates"].AsBool()});
    CHECK(Lines(status.message()) == Lines(AsOfJson(step["error"].AsString())));
  } else if (op == "toFieldSet") {
    const auto set = value.ToFieldSet(arena);
    CheckError(set, step);
    if (set.ok()) CHECK(Encoded(*set) == JsonOf(step["set"]));
  } else if (op == "merge") {
    const auto merged = value.Merge(other, arena);
    CheckError(merged, step);
    if (!merged.ok()) return;
    INFO(JsonOf(merged->value()));
    CHECK(patch::apply::ValuesEqual(merged->value(), step["result"]));
  } else if (op == "compare") {
    CheckCompare(value, other, step, arena);
  } else if (op == "remove" || op == "extract") {
    CheckItems(value, step, arena);
  } else if (op == "reconcile") {
    const auto set = ReconcileFieldSetWithSchema(SetIn(step["set"], arena), type.type(), arena);
    CHECK((set ? Encoded(*set) : "null") == JsonOf(step["result"]));
  }
}

TEST_CASE("patch.apply: typed values do what upstream's do", "[patch.apply][upstream]") {
  testing::Recording recording("typed");
  std::size_t tests = 0;
  std::set<std::string> unlike;  // Their types are none that a Schema could describe.
  for (const std::string& function : recording.Functions()) {
    tests += recording.Each(function, [&](const std::string& test, Value step) {
      Arena arena;
      INFO(test << ": " << JsonOf(step));
      if (testing::CheckSets(step, arena)) return;
      const ParseableType* const type = recording.TypeOf(step);
      if (type == nullptr) {
        unlike.insert(test);
      } else {
        CheckStep(*type, step, arena);
      }
    });
  }
  CHECK(tests == 434);
  // TestInvalidOverride, and TestSymdiff's type that is any of a scalar, a set and a map.
  CHECK(unlike.size() == 17);
}

}  // namespace
}  // namespace apiserver::inline v0
