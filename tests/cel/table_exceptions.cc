#include "cel/table_exceptions.h"

namespace cel_test {
namespace {

// No environment of Kubernetes has a container: names are looked up as they are written, and
// messages name the empty one.
constexpr std::string_view kContainer = "the test has a container";
// Which entry fails first is chance in Go; here it is the first one of the text.
constexpr std::string_view kMapOrder = "the order of a map";

constexpr Exception kExceptions[] = {
    {"cel_spec", "dynamic/int32/field_assign_proto*", kContainer},
    {"cel_spec", "dynamic/uint32/field_assign_proto*", kContainer},
    {"cel_spec", "dynamic/struct/field_assign_proto*", kContainer},
    {"cel_spec", "dynamic/value_null/literal", kContainer},
    {"cel_spec", "dynamic/value_null/literal_no_field_access", kContainer},
    {"cel_spec", "enums/legacy_proto*", kContainer},
    {"cel_spec", "enums/strong_proto*", kContainer},
    {"cel_spec", "macros2/transformMap/error", kMapOrder},
    {"cel_spec", "namespace/namespace/self_eval_container_lookup*", kContainer},
    {"cel_spec", "namespace/namespace_shadowing/basic", kContainer},
    {"cel_spec", "proto2/has/undefined", kContainer},
    {"cel_spec", "proto2/literal_singular/*", kContainer},
    {"cel_spec", "proto2/set_null/*", kContainer},
    {"cel_spec", "proto3/has/undefined", kContainer},
    {"cel_spec", "proto3/set_null/*", kContainer},
};

// Functions that the room does not have yet. Expressions that call them differ.
constexpr Exception kMissing = {"", "", "a function that is missing yet"};
constexpr std::string_view kMissingFunctions[] = {
    "authorizer.",    ".getDate(",     ".getDayOfMonth(", ".getDayOfWeek(",
    ".getDayOfYear(", ".getFullYear(", ".getHours(",      ".getMilliseconds(",
    ".getMinutes(",   ".getMonth(",    ".getSeconds(",
};

bool Matches(std::string_view pattern, std::string_view row) {
  if (!pattern.ends_with('*')) return pattern == row;
  pattern.remove_suffix(1);
  return row.starts_with(pattern);
}

}  // namespace

Exceptions::Exceptions(std::string_view file) {
  for (const Exception& exception : kExceptions) {
    if (exception.file == file) entries_.push_back({&exception, false});
  }
}

const Exception* Exceptions::Find(std::string_view row, std::string_view expression) {
  for (const std::string_view function : kMissingFunctions) {
    if (expression.find(function) != std::string_view::npos) return &kMissing;
  }
  for (Entry& entry : entries_) {
    if (!Matches(entry.exception->row, row)) continue;
    entry.used = true;
    return entry.exception;
  }
  return nullptr;
}

std::vector<const Exception*> Exceptions::Unused() const {
  std::vector<const Exception*> unused;
  for (const Entry& entry : entries_) {
    if (!entry.used) unused.push_back(entry.exception);
  }
  return unused;
}

}  // namespace cel_test
