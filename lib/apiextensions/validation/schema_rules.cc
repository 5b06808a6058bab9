#include "apiextensions/validation/schema_rules.h"

#include <algorithm>
#include <array>
#include <set>
#include <unordered_set>
#include <utility>

#include "apiextensions/schema/json_schema.h"
#include "apiextensions/validation/go_struct_json.h"
#include "apiextensions/validation/list_rules.h"
#include "apiextensions/validation/place.h"

namespace apiserver::v0::apiextensions {
namespace {

using field::ErrorList;
using field::Path;
using runtime::Member;
using runtime::Value;

constexpr std::array<std::string_view, 6> kTypes = {"array",  "boolean", "integer",
                                                    "number", "object",  "string"};

// The members that the root may have if the status, a part of it, is validated alone.
constexpr std::array<std::string_view, 22> kAtRoot = {"Description",
                                                      "Type",
                                                      "Format",
                                                      "Title",
                                                      "Maximum",
                                                      "ExclusiveMaximum",
                                                      "Minimum",
                                                      "ExclusiveMinimum",
                                                      "MaxLength",
                                                      "MinLength",
                                                      "Pattern",
                                                      "MaxItems",
                                                      "MinItems",
                                                      "UniqueItems",
                                                      "MultipleOf",
                                                      "Required",
                                                      "Items",
                                                      "Properties",
                                                      "ExternalDocs",
                                                      "Example",
                                                      "XPreserveUnknownFields",
                                                      "XValidations"};

// The members that are refused wherever they are, with the reason.
struct Unsupported {
  std::string_view name;
  const char* text;
};
constexpr Unsupported kUnsupported[] = {{"id", "id is not supported"},
                                        {"additionalItems", "additionalItems is not supported"},
                                        {"patternProperties", "patternProperties is not supported"},
                                        {"definitions", "definitions is not supported"},
                                        {"dependencies", "dependencies is not supported"},
                                        {"$ref", "$ref is not supported"}};

bool IsMetaField(std::string_view name) {
  return name == "metadata" || name == "kind" || name == "apiVersion";
}

// The rules that the surroundings of a schema add.
struct Around {
  // The reason why there may be no default. Empty: there may be one.
  std::string no_default = "";
  bool inside_meta = false;
};

// Recurses as deep as schemas are nested.
class RulesWalk {
 public:
  RulesWalk(const Demands& demands, SchemaFindings& findings)
      : demands_(demands), findings_(findings), errors_(findings.errors) {}

  void Check(const Value& schema, const Place& place, const Around& around, bool root) {
    if (!schema.is_map() || errors_.full()) return;
    const std::size_t before = Count();
    CheckOwn(schema, place, around);
    CheckAdditionalProperties(schema, place, around);
    CheckProperties(schema, place, around, root);
    CheckJunctors(schema, place, around);
    CheckItems(schema, place, around);
    CheckNamed(schema["dependencies"], place.Child("dependencies"), around);
    CheckExtensions(schema, place, demands_, errors_);
    const Value rules = schema["x-kubernetes-validations"];
    CheckRuleTexts(rules, place, errors_);
    if (rules.size() > 0 && Count() > before) findings_.faulty.push_back(schema.members().data());
  }

 private:
  std::size_t Count() const { return errors_.size() + errors_.more(); }

  void CheckOwn(const Value& schema, const Place& place, const Around& around) {
    const std::string_view type = schema["type"].AsString();
    if (demands_.valid_types && !type.empty() && !IsOpenApiType(type)) {
      errors_.NotSupported(place.Child("type").ToPath(), type, {kTypes.begin(), kTypes.end()});
    }
    if (!around.no_default.empty() && !schema["default"].is_null()) {
      errors_.Forbidden(place.Child("default").ToPath(), "must not be set " + around.no_default);
    }
    for (const Unsupported& member : kUnsupported) {
      if (schema[member.name].is_null()) continue;
      errors_.Forbidden(place.Child(member.name).ToPath(), member.text);
    }
    if (type == "null") {
      errors_.Forbidden(place.Child("type").ToPath(),
                        "type cannot be set to null, use nullable as an alternative");
    }
    if (!schema["items"].items().empty()) {
      errors_.Forbidden(place.Child("items").ToPath(),
                        "items must be a schema object and not an array");
    }
    if (around.inside_meta && schema["x-kubernetes-embedded-resource"].AsBool()) {
      errors_.Forbidden(place.Child("x-kubernetes-embedded-resource").ToPath(),
                        "must not be used inside of resource meta");
    }
    if (schema["uniqueItems"].AsBool()) {
      errors_.Forbidden(
          place.Child("uniqueItems").ToPath(),
          "uniqueItems cannot be set to true since the runtime complexity becomes quadratic");
    }
  }

  void CheckAdditionalProperties(const Value& schema, const Place& place, const Around& around) {
    const Value values = schema["additionalProperties"];
    if (values.is_null()) return;
    const Place at = place.Child("additionalProperties");
    if (schema["properties"].size() > 0 && (values.is_map() || !values.AsBool())) {
      errors_.Forbidden(at.ToPath(), "additionalProperties and properties are mutual exclusive");
    }
    Around below = around;
    if (around.inside_meta) {
      below.no_default = "inside additionalProperties applying to object metadata";
    }
    Check(values, at, below, /*root=*/false);
  }

  void CheckProperties(const Value& schema, const Place& place, const Around& around, bool root) {
    const Place properties = place.Child("properties");
    const bool resource = root || schema["x-kubernetes-embedded-resource"].AsBool();
    for (const Member& property : schema["properties"].members()) {
      if (!resource || !IsMetaField(property.key)) {
        Check(property.value, properties.Key(property.key), around, /*root=*/false);
        continue;
      }
      Around below = around;
      below.inside_meta = true;
      if (root) below.no_default = "in top-level " + std::string(property.key);
      Check(property.value, properties.Key(property.key), below, /*root=*/false);
    }
  }

  void CheckJunctors(const Value& schema, const Place& place, const Around& around) {
    Check(schema["not"], place.Child("not"), around, /*root=*/false);
    for (const std::string_view key : {"allOf", "oneOf", "anyOf"}) {
      CheckList(schema[key], place.Child(key), around);
    }
    CheckNamed(schema["definitions"], place.Child("definitions"), around);
  }

  void CheckItems(const Value& schema, const Place& place, const Around& around) {
    const Value items = schema["items"];
    const Place at = place.Child("items");
    if (items.is_list()) return CheckList(items, at, around);
    Check(items, at, around, /*root=*/false);
  }

  void CheckList(const Value& list, const Place& place, const Around& around) {
    for (std::size_t i = 0; i < list.items().size(); ++i) {
      Check(list.at(i), place.Index(i), around, /*root=*/false);
    }
  }

  void CheckNamed(const Value& map, const Place& place, const Around& around) {
    for (const Member& named : map.members()) {
      Check(named.value, place.Key(named.key), around, /*root=*/false);
    }
  }

  const Demands& demands_;
  SchemaFindings& findings_;
  ErrorList& errors_;
};

}  // namespace

bool IsOpenApiType(std::string_view type) {
  return std::find(kTypes.begin(), kTypes.end(), type) != kTypes.end();
}

const Value* FindSorted(const Value& map, std::string_view key) {
  const auto members = map.members();
  const auto found =
      std::lower_bound(members.begin(), members.end(), key,
                       [](const Member& member, std::string_view k) { return member.key < k; });
  return found != members.end() && found->key == key ? &found->value : nullptr;
}

bool IsTooDeep(const Value& schema) {
  std::vector<Value> level = {schema};
  std::vector<Value> next;
  for (int depth = 0; !level.empty(); ++depth) {
    if (depth > kSchemaDepthMax) return true;
    next.clear();
    for (const Value& open : level) AddSchemasBelow(open, next);
    std::swap(level, next);
  }
  return false;
}

SchemaFindings CheckSchemaRules(const Value& schema, const Demands& demands, const Path& path) {
  SchemaFindings findings;
  RulesWalk(demands, findings).Check(schema, Place(path), {}, /*root=*/true);
  return findings;
}

void CheckSchemaRoot(const Value& schema, bool has_status, const Path& path, ErrorList& errors) {
  for (std::size_t i = 0; i < kSchemaMembers && has_status; ++i) {
    const SchemaMember& member = SchemaMembers()[i];
    if (schema.Find(member.name) == nullptr) continue;
    if (member.name == "type") {
      const std::string_view type = schema["type"].AsString();
      if (type == "object") continue;
      errors.Invalid(path.Child("type"), type,
                     "only \"object\" is allowed as the type at the root of the schema if the "
                     "status subresource is enabled");
      break;
    }
    if (std::find(kAtRoot.begin(), kAtRoot.end(), member.go_name) != kAtRoot.end()) continue;
    std::string names;
    for (const std::string_view name : kAtRoot) names.append(names.empty() ? "" : " ").append(name);
    errors.InvalidPrinted(path, PrintedSchema(schema),
                          "only [" + names +
                              "] fields are allowed at the root of the schema if the status "
                              "subresource is enabled");
    break;
  }
  if (schema["nullable"].AsBool()) {
    errors.Forbidden(path.Child("nullable"), "nullable cannot be true at the root");
  }
}

}  // namespace apiserver::v0::apiextensions
