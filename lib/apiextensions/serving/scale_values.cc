#include "apiextensions/serving/scale_values.h"

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "apiextensions/convert/metadata_guard.h"
#include "apiserver/codec/json.h"

namespace apiserver::v0::apiextensions {
namespace {

using runtime::Value;

// Where a path leads: `path` is that of `value`, with a leading dot.
struct Found {
  std::string path;
  Value value;
  bool there = true;
  // The value is not what the path goes on in, or not what it ends in.
  std::string error = "";
};

// Prints a value as Go's %v does; lists and maps as JSON.
std::string Printed(const Value& value) {
  if (value.is_null()) return "<nil>";
  if (value.is_string()) return std::string(value.AsString());
  std::string text;
  codec::AppendJson(value, text);
  return text;
}

std::string AccessorError(const Found& found, std::string_view expected) {
  return found.path + " accessor error: " + Printed(found.value) + " is of the type " +
         std::string(GoTypeName(found.value)) + ", expected " + std::string(expected);
}

bool HasMember(const Value& map, std::string_view key) {
  for (const runtime::Member& member : map.members()) {
    if (member.key == key) return true;
  }
  return false;
}

// Follows unstructured.NestedFieldNoCopy.
Found Follow(const Value& root, std::string_view path) {
  Found found{.path = "", .value = root};
  if (path.starts_with('.')) path.remove_prefix(1);
  while (true) {
    const std::string_view key = path.substr(0, path.find('.'));
    found.path += "." + std::string(key);
    if (found.value.is_null()) return {.path = found.path, .value = Value(), .there = false};
    if (!found.value.is_map()) {
      found.error = AccessorError(found, "map[string]interface{}");
      return found;
    }
    found.there = HasMember(found.value, key);
    found.value = found.value[key];
    if (!found.there || key.size() == path.size()) return found;
    path.remove_prefix(key.size() + 1);
  }
}

void ValidateReplicas(const Value& root, const std::string& path, field::ErrorList& errors) {
  Found found = Follow(root, path);
  if (!found.there) return;
  const field::Path at(path);
  if (found.error.empty() && found.value.type() != Value::Type::kInt) {
    found.error = AccessorError(found, "int64");
  }
  if (!found.error.empty()) {
    errors.InvalidPrinted(at, "0", found.error);
    return;
  }
  const std::int64_t replicas = found.value.AsInt();
  constexpr std::int64_t kMax = std::numeric_limits<std::int32_t>::max();
  if (replicas < 0) {
    errors.InvalidPrinted(at, std::to_string(replicas), "should be a non-negative integer");
  } else if (replicas > kMax) {
    errors.InvalidPrinted(at, std::to_string(replicas),
                          "should be less than or equal to " + std::to_string(kMax));
  }
}

}  // namespace

field::ErrorList ValidateScaleSpec(const runtime::Object& object,
                                   const runtime::ScalePaths& paths) {
  field::ErrorList errors;
  ValidateReplicas(object.root(), paths.spec_replicas, errors);
  return errors;
}

field::ErrorList ValidateScaleStatus(const runtime::Object& object,
                                     const runtime::ScalePaths& paths) {
  field::ErrorList errors;
  ValidateReplicas(object.root(), paths.status_replicas, errors);
  if (paths.label_selector.empty()) return errors;
  Found selector = Follow(object.root(), paths.label_selector);
  if (!selector.there || (selector.error.empty() && selector.value.is_string())) return errors;
  if (selector.error.empty()) selector.error = AccessorError(selector, "string");
  errors.Invalid(field::Path(paths.label_selector), "", selector.error);
  return errors;
}

}  // namespace apiserver::v0::apiextensions
