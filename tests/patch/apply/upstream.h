#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apiserver/patch/apply/field_set.h"
#include "apiserver/patch/apply/typed.h"
#include "apiserver/runtime/value.h"

// What was recorded of sigs.k8s.io/structured-merge-diff's own tests:
// tests/testdata/structured_merge_diff.
namespace apiserver::inline v0::testing {

class Recording {
 public:
  // "merge": merge.json.
  explicit Recording(std::string_view package);

  // Calls `run` with every step of every test of one Go test function ("TestDuplicates" is that
  // and "TestDuplicates/…"), and says how many tests there were.
  std::size_t Each(std::string_view function,
                   const std::function<void(const std::string& test, runtime::Value step)>& run);
  // The Go test functions, in order.
  std::vector<std::string> Functions() const;

  // The type of a step; null when our Schema cannot say what it is.
  const patch::apply::ParseableType* TypeOf(runtime::Value step);
  // The type called `name` in the schema of a step.
  const patch::apply::ParseableType* TypeNamed(runtime::Value step, std::string_view name);

 private:
  using TypePtr = std::unique_ptr<patch::apply::ParseableType>;
  const patch::apply::ParseableType* TypeOf(std::size_t schema, runtime::Value ref);

  std::string text_;
  runtime::Arena arena_;
  runtime::Value root_;
  std::map<std::pair<std::size_t, std::string>, TypePtr> types_;
};

// The set that a member of a step holds as FieldsV1.
patch::apply::FieldSet SetIn(runtime::Value fields, runtime::Arena& arena);
// The path element that a key of FieldsV1 stands for.
patch::apply::PathElement ElementOf(std::string_view key, runtime::Arena& arena);
// Makes the step's operation on sets; false: it is none.
bool CheckSets(runtime::Value step, runtime::Arena& arena);
std::string Encoded(patch::apply::FieldSet set);
std::string JsonOf(runtime::Value value);

}  // namespace apiserver::inline v0::testing
