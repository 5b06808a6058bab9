#include "apiextensions/validation/structural.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "apiextensions/schema/json_schema.h"
#include "apiextensions/validation/place.h"
#include "apiextensions/validation/schema_rules.h"
#include "runtime/patterns.h"

namespace apiserver::v0::apiextensions {
namespace {

using field::ErrorList;
using runtime::Member;
using runtime::Value;

constexpr std::string_view kPreserve = "x-kubernetes-preserve-unknown-fields";
constexpr std::string_view kEmbedded = "x-kubernetes-embedded-resource";
constexpr std::string_view kIntOrString = "x-kubernetes-int-or-string";

// The members that must not be in a schema below a junctor, with Kubernetes' word for their
// absence.
struct NotNested {
  std::string_view name;
  const char* text;
};
constexpr NotNested kNotNested[] = {
    {"type", "must be empty to be structural"},
    {"additionalProperties", "must be undefined to be structural"},
    {"default", "must be undefined to be structural"},
    {"title", "must be empty to be structural"},
    {"description", "must be empty to be structural"},
    {"nullable", "must be false to be structural"},
    {kPreserve, "must be false to be structural"},
    {kEmbedded, "must be false to be structural"},
    {kIntOrString, "must be false to be structural"},
    {"x-kubernetes-list-map-keys", "must be empty to be structural"},
    {"x-kubernetes-list-type", "must be undefined to be structural"},
    {"x-kubernetes-map-type", "must be undefined to be structural"},
    {"x-kubernetes-validations", "must be empty to be structural"}};

enum class Level { kRoot, kItem, kField };

std::string_view TypeOf(const Value& schema) { return schema["type"].AsString(); }

bool IsType(const Value& schema, std::string_view type) {
  for (const Member& member : schema.members()) {
    const bool passed_by = member.key == "externalDocs" || member.key == "example";
    if (member.key != "type" && !passed_by) return false;
  }
  return TypeOf(schema) == type;
}

// anyOf: [{type: integer}, {type: string}], the one place where types may stand in a junctor.
bool IsIntOrStringPattern(const Value& any_of) {
  return any_of.items().size() == 2 && IsType(any_of.at(0), "integer") &&
         IsType(any_of.at(1), "string");
}

// Recurses as deep as schemas are nested.
class StructuralWalk {
 public:
  explicit StructuralWalk(ErrorList& errors) : errors_(errors) {}

  void Check(const Value& schema, Level level, const Place& place) {
    if (!schema.is_map() || errors_.full()) return;
    const Value items = schema["items"];
    if (TypeOf(schema) == "array" && !items.is_map()) {
      errors_.Required(place.Child("items").ToPath(), "must be specified");
    }
    Check(items, Level::kItem, place.Child("items"));
    const Place properties = place.Child("properties");
    for (const Member& property : schema["properties"].members()) {
      Check(property.value, Level::kField, properties.Key(property.key));
    }
    CheckAdditional(schema, level, place);
    CheckIntOrString(schema, place);
    const bool skip_any_of = IsIntOrStringPattern(schema["anyOf"]);
    const bool skip_all_of = IsIntOrStringPattern(schema["allOf"].at(0)["anyOf"]);
    CheckValueValidation(schema, skip_any_of, skip_all_of, place);
    CheckType(schema, level, place);
    CheckMeta(schema, level, place);
  }

  // Requires that the fields and items which junctors are about exist. `structure` is the schema
  // that is not below a junctor, null if there is none.
  void CheckComplete(const Value& nested, const Value& structure, const Place& at,
                     const Place& place) {
    if (!nested.is_map() || errors_.full()) return;
    if (!structure.is_map()) return Missing(at, place);
    CheckJunctorsComplete(nested, structure, at, place);
    CheckComplete(nested["items"], structure["items"], at.Child("items"), place.Child("items"));
    const Place at_properties = at.Child("properties");
    const Place properties = place.Child("properties");
    for (const Member& property : nested["properties"].members()) {
      const Value* const there = FindSorted(structure["properties"], property.key);
      CheckComplete(property.value, there != nullptr ? *there : Value(),
                    at_properties.Key(property.key), properties.Key(property.key));
    }
  }

  void CheckJunctorsComplete(const Value& schema, const Value& structure, const Place& at,
                             const Place& place) {
    CheckComplete(schema["not"], structure, at, place.Child("not"));
    for (const std::string_view key : {"allOf", "anyOf", "oneOf"}) {
      const Place list = place.Child(key);
      const auto schemas = schema[key].items();
      for (std::size_t i = 0; i < schemas.size(); ++i) {
        CheckComplete(schemas[i], structure, at, list.Index(i));
      }
    }
  }

 private:
  void Missing(const Place& at, const Place& place) {
    errors_.Required(at.ToPath(), "because it is defined in " + place.ToPath().text());
  }

  void CheckAdditional(const Value& schema, Level level, const Place& place) {
    const Value values = schema["additionalProperties"];
    if (values.is_null()) return;
    const Place at = place.Child("additionalProperties");
    if (level == Level::kRoot) errors_.Forbidden(at.ToPath(), "must not be used at the root");
    Check(values, Level::kField, at);
    if (schema[kEmbedded].AsBool()) {
      errors_.Forbidden(at.ToPath(), "must not be used if x-kubernetes-embedded-resource is set");
    }
  }

  void CheckIntOrString(const Value& schema, const Place& place) {
    if (!schema[kIntOrString].AsBool()) return;
    for (const std::string_view other : {kPreserve, kEmbedded}) {
      if (!schema[other].AsBool()) continue;
      errors_.InvalidPrinted(place.Child(other).ToPath(), "true",
                             "must be false if x-kubernetes-int-or-string is true");
    }
  }

  void CheckType(const Value& schema, Level level, const Place& place) {
    const std::string_view type = TypeOf(schema);
    const Place at = place.Child("type");
    const bool preserves = schema[kPreserve].AsBool();
    const bool embedded = schema[kEmbedded].AsBool();
    if (embedded && type != "object") {
      constexpr char kDetail[] = "must be object if x-kubernetes-embedded-resource is true";
      if (type.empty()) errors_.Required(at.ToPath(), kDetail);
      if (!type.empty()) errors_.Invalid(at.ToPath(), type, kDetail);
    } else if (type.empty() && !schema[kIntOrString].AsBool() && !preserves) {
      errors_.Required(at.ToPath(), level == Level::kRoot   ? "must not be empty at the root"
                                    : level == Level::kItem ? "must not be empty for specified "
                                                              "array items"
                                                            : "must not be empty for specified "
                                                              "object fields");
    }
    if (level == Level::kRoot && !type.empty() && type != "object") {
      errors_.Invalid(at.ToPath(), type, "must be object at the root");
    }
    if (embedded && !preserves && schema["properties"].size() == 0) {
      errors_.Required(place.Child("properties").ToPath(),
                       "must not be empty if x-kubernetes-embedded-resource is true without "
                       "x-kubernetes-preserve-unknown-fields");
    }
  }

  // Checks kind, apiVersion and metadata of a resource.
  void CheckMeta(const Value& schema, Level level, const Place& place) {
    if (level != Level::kRoot && !schema[kEmbedded].AsBool()) return;
    const Place properties = place.Child("properties");
    const Value all = schema["properties"];
    for (const std::string_view name : {"kind", "apiVersion"}) {
      const Value* const property = FindSorted(all, name);
      if (property == nullptr || TypeOf(*property) == "string") continue;
      const Place at = properties.Key(name);
      errors_.Invalid(at.Child("type").ToPath(), TypeOf(*property), "must be string");
    }
    const Value* const metadata = FindSorted(all, "metadata");
    if (metadata == nullptr) return;
    const Place at = properties.Key("metadata");
    if (TypeOf(*metadata) != "object") {
      errors_.Invalid(at.Child("type").ToPath(), TypeOf(*metadata), "must be object");
    }
    if (level != Level::kRoot || IsPlainMetadata(*metadata)) return;
    errors_.Forbidden(at.ToPath(),
                      "must not specify anything other than name and generateName, but metadata is "
                      "implicitly specified");
  }

  static bool IsPlainMetadata(const Value& metadata) {
    for (const Member& member : metadata.members()) {
      const std::string_view key = member.key;
      if (key == "properties") {
        for (const Member& property : member.value.members()) {
          if (property.key != "name" && property.key != "generateName") return false;
        }
      } else if (key != "type" && key != "default" && key != "externalDocs" && key != "example" &&
                 key != "$ref") {  // It is not part of a structure, and refused as it is.
        return false;
      }
    }
    return true;
  }

  void CheckValueValidation(const Value& schema, bool skip_any_of, bool skip_first_all_of,
                            const Place& place) {
    for (const std::string_view key : {"anyOf", "allOf", "oneOf"}) {
      if (key == "anyOf" && skip_any_of) continue;
      const Place list = place.Child(key);
      const auto schemas = schema[key].items();
      for (std::size_t i = 0; i < schemas.size(); ++i) {
        CheckNested(schemas[i], key == "allOf" && skip_first_all_of && i == 0, list.Index(i));
      }
    }
    CheckNested(schema["not"], false, place.Child("not"));
    const std::string_view pattern = schema["pattern"].AsString();
    if (pattern.empty()) return;
    const std::string& problem = ProblemOf(pattern);
    if (problem.empty()) return;
    errors_.Invalid(place.Child("pattern").ToPath(), pattern,
                    "must be a valid regular expression, but isn't: " + problem);
  }

  // Real schemas repeat their patterns.
  const std::string& ProblemOf(std::string_view pattern) {
    const auto [at, added] = patterns_.try_emplace(pattern);
    if (added) at->second = runtime::Pattern(std::string(pattern)).Problem();
    return at->second;
  }

  // Checks a schema below a junctor, which may only limit values.
  void CheckNested(const Value& schema, bool skip_any_of, const Place& place) {
    if (!schema.is_map() || errors_.full()) return;
    CheckValueValidation(schema, skip_any_of, false, place);
    CheckNested(schema["items"], false, place.Child("items"));
    const Place properties = place.Child("properties");
    for (const Member& property : schema["properties"].members()) {
      CheckNested(property.value, false, properties.Key(property.key));
    }
    for (const NotNested& member : kNotNested) {
      const Value value = schema[member.name];
      if (value.is_null()) continue;
      // False says nothing there.
      if (member.name == "additionalProperties" && !value.is_map() && !value.AsBool()) continue;
      errors_.Forbidden(place.Child(member.name).ToPath(), member.text);
    }
    if (FindSorted(schema["properties"], "metadata") != nullptr) {
      errors_.Forbidden(properties.Key("metadata").ToPath(),
                        "must not be specified in a nested context");
    }
  }

  ErrorList& errors_;
  // The compile errors of the patterns; empty: they compile.
  std::unordered_map<std::string_view, std::string> patterns_;
};

}  // namespace

std::string WhyNotStructural(const Value& schema) {
  std::string why;
  ForEachSchema(schema, [&why](const Value& node) {
    for (const std::string_view name : {"id", "$schema", "$ref", "patternProperties",
                                        "dependencies", "additionalItems", "definitions"}) {
      const Value value = node[name];
      // An empty reference refers to nothing.
      if (value.is_null() || (value.is_string() && value.AsString().empty())) continue;
      const std::string_view shown = name == "$schema" ? "schema" : name;
      why = "OpenAPIV3Schema '" + std::string(shown) + "' is not supported";
      return false;
    }
    if (!node["items"].items().empty()) {
      why = "OpenAPIV3Schema 'items' must be a schema, but is an array";
    }
    const Value* const preserves = node.Find(kPreserve);
    if (preserves != nullptr && !preserves->AsBool()) {
      why = "internal error: 'x-kubernetes-preserve-unknown-fields' must be true or undefined";
    }
    return why.empty();
  });
  return why;
}

ErrorList ValidateStructural(const Value& schema, const field::Path& path) {
  ErrorList found;
  StructuralWalk walk(found);
  const Place place(path);
  walk.Check(schema, Level::kRoot, place);
  walk.CheckJunctorsComplete(schema, schema, place, place);
  // Some are missing, so there is no order to speak of.
  if (found.more() > 0) return found;
  std::vector<std::pair<std::string, const field::Error*>> order;
  for (const field::Error& error : found) order.emplace_back(error.Message(), &error);
  std::stable_sort(order.begin(), order.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  ErrorList sorted;
  for (const auto& [message, error] : order) sorted.Add(*error);
  return sorted;
}

}  // namespace apiserver::v0::apiextensions
