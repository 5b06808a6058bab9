#include "apiextensions/validation/list_rules.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "apiextensions/validation/go_struct_json.h"
#include "apiextensions/validation/schema_rules.h"
#include "text/trim.h"

namespace apiserver::v0::apiextensions {
namespace {

using field::ErrorList;
using runtime::Value;

constexpr std::string_view kListType = "x-kubernetes-list-type";
constexpr std::string_view kMapType = "x-kubernetes-map-type";
constexpr std::string_view kMapKeys = "x-kubernetes-list-map-keys";

bool HasLineBreaks(std::string_view text) {
  return text.find_first_of("\n\r") != std::string_view::npos;
}

// Requires the type that an extension is for.
void RequireType(std::string_view type, const std::string& detail, const Place& place,
                 ErrorList& errors) {
  if (type.empty()) {
    errors.Required(place.ToPath(), detail);
  } else {
    errors.Invalid(place.ToPath(), type, detail);
  }
}

void CheckMapType(const Value& schema, const Place& place, ErrorList& errors) {
  const Value map_type = schema[kMapType];
  if (map_type.is_null()) return;
  const std::string_view type = schema["type"].AsString();
  if (type != "object") {
    RequireType(type, "must be object if x-kubernetes-map-type is specified", place.Child("type"),
                errors);
  }
  const std::string_view word = map_type.AsString();
  if (word == "atomic" || word == "granular") return;
  errors.NotSupported(place.Child(kMapType).ToPath(), word, {"atomic", "granular"});
}

// Checks the items of a set, which must be atoms.
void CheckSetItems(const Value& schema, const Place& place, ErrorList& errors) {
  if (!IsNonAtomicSet(schema)) return;
  const Value items = schema["items"];
  const bool list = items["type"].AsString() == "array";
  const Place below = place.Child("items");
  // For both Kubernetes prints the list type.
  const Value shown = items[kListType];
  constexpr char kDetail[] = "must be atomic as item of a list with x-kubernetes-list-type=set";
  const field::Path path = below.Child(list ? kListType : kMapType).ToPath();
  if (shown.is_null()) {
    errors.InvalidPrinted(path, "null", kDetail);
  } else {
    errors.Invalid(path, shown.AsString(), kDetail);
  }
}

void CheckListType(const Value& schema, const Demands& demands, const Place& place,
                   ErrorList& errors) {
  const Value list_type = schema[kListType];
  if (list_type.is_null()) return;
  const std::string_view type = schema["type"].AsString();
  if (type != "array") {
    RequireType(type, "must be array if x-kubernetes-list-type is specified", place.Child("type"),
                errors);
  } else if (demands.atomic_sets) {
    CheckSetItems(schema, place, errors);
  }
  const std::string_view word = list_type.AsString();
  if (word == "atomic" || word == "set" || word == "map") return;
  errors.NotSupported(place.Child(kListType).ToPath(), word, {"atomic", "set", "map"});
}

// Checks the keys of a list of type map whose items are objects.
void CheckMapKeys(const Value& keys, const Value& items, const Place& place, ErrorList& errors) {
  std::set<std::string_view> seen;
  std::string printed;
  const auto invalid = [&](std::string detail) {
    if (printed.empty()) printed = PrintedTexts(keys);
    errors.InvalidPrinted(place.Child(kMapKeys).ToPath(), printed, std::move(detail));
  };
  const Place below = place.Child("items");
  const Place properties = below.Child("properties");
  for (const Value& key : keys.items()) {
    if (errors.full()) return;
    const Value* const property = FindSorted(items["properties"], key.AsString());
    if (property == nullptr) {
      invalid("entries must all be names of item properties");
    } else {
      const std::string_view type = (*property)["type"].AsString();
      const Place at = properties.Key(key.AsString());
      if (type == "array" || type == "object") {
        errors.Invalid(at.Child("type").ToPath(), items["type"].AsString(),
                       "must be a scalar type if parent array's x-kubernetes-list-type is map");
      }
    }
    if (!seen.insert(key.AsString()).second) invalid("must not contain duplicate entries");
  }
}

void CheckListMap(const Value& schema, const Place& place, ErrorList& errors) {
  const Value keys = schema[kMapKeys];
  const Value list_type = schema[kListType];
  if (keys.size() > 0 && list_type.AsString() != "map") {
    RequireType(list_type.AsString(), "must be map if x-kubernetes-list-map-keys is non-empty",
                place.Child(kListType), errors);
  }
  if (list_type.AsString() != "map") return;
  if (keys.size() == 0) {
    errors.Required(place.Child(kMapKeys).ToPath(),
                    "must not be empty if x-kubernetes-list-type is map");
  }
  const Value items = schema["items"];
  const Place below = place.Child("items");
  if (items.is_null()) {
    errors.Required(below.ToPath(), "must have a schema if x-kubernetes-list-type is map");
  } else if (!items.is_map()) {
    errors.InvalidPrinted(below.ToPath(), PrintedItems(items),
                          "must only have a single schema if x-kubernetes-list-type is map");
  } else if (items["type"].AsString() != "object") {
    errors.Invalid(below.Child("type").ToPath(), items["type"].AsString(),
                   "must be object if parent array's x-kubernetes-list-type is map");
  } else {
    CheckMapKeys(keys, items, place, errors);
  }
}

// Checks if items of sets and maps, and the keys of maps, are always there and not null.
void CheckSoundKeys(const Value& schema, const Place& place, ErrorList& errors) {
  const Value items = schema["items"];
  const std::string_view list_type = schema[kListType].AsString();
  if (!items.is_map() || (list_type != "set" && list_type != "map")) return;
  const Place below = place.Child("items");
  if (items["nullable"].AsBool()) {
    errors.Forbidden(below.Child("nullable").ToPath(),
                     "cannot be nullable when x-kubernetes-list-type is " + std::string(list_type));
  }
  if (list_type != "map") return;
  std::set<std::string_view> required;
  for (const Value& name : items["required"].items()) required.insert(name.AsString());
  const Place properties = below.Child("properties");
  for (const Value& key : schema[kMapKeys].items()) {
    if (errors.full()) return;
    const std::string_view name = key.AsString();
    const Value* const property = FindSorted(items["properties"], name);
    if (property == nullptr) continue;
    const Place at = properties.Key(name);
    if (!required.contains(name) && (*property)["default"].is_null()) {
      errors.Required(at.Child("default").ToPath(),
                      "this property is in x-kubernetes-list-map-keys, so it must have a default "
                      "or be a required property");
    }
    if ((*property)["nullable"].AsBool()) {
      errors.Forbidden(at.Child("nullable").ToPath(),
                       "this property is in x-kubernetes-list-map-keys, so it cannot be nullable");
    }
  }
}

// The texts of one rule; of several errors about its rule and message the first.
void CheckMessage(const Value& rule, const Place& place, ErrorList& errors) {
  const std::string_view text = text::TrimSpace(rule["rule"].AsString());
  const std::string_view whole = rule["message"].AsString();
  const std::string_view message = text::TrimSpace(whole);
  if (text.empty()) {
    errors.Required(place.Child("rule").ToPath(), "rule is not specified");
  } else if (!whole.empty() && message.empty()) {
    errors.Invalid(place.Child("message").ToPath(), whole, "must be non-empty if specified");
  } else if (HasLineBreaks(message)) {
    errors.Invalid(place.Child("message").ToPath(), whole, "must not contain line breaks");
  } else if (HasLineBreaks(text) && message.empty()) {
    errors.Required(place.Child("message").ToPath(),
                    "message must be specified if rule contains line breaks");
  }
}

void CheckRule(const Value& rule, const Place& place, ErrorList& errors) {
  CheckMessage(rule, place, errors);
  const std::string_view expression = rule["messageExpression"].AsString();
  if (!expression.empty() && text::TrimSpace(expression).empty()) {
    errors.Required(place.Child("messageExpression").ToPath(),
                    "messageExpression must be non-empty if specified");
  }
  const std::vector<std::string> reasons = {"FieldValueDuplicate", "FieldValueForbidden",
                                            "FieldValueInvalid", "FieldValueRequired"};
  const Value reason = rule["reason"];
  if (!reason.is_null() &&
      std::find(reasons.begin(), reasons.end(), reason.AsString()) == reasons.end()) {
    errors.NotSupported(place.Child("reason").ToPath(), reason.AsString(), reasons);
  }
  const std::string_view path = rule["fieldPath"].AsString();
  if (path.empty()) return;
  const auto invalid = [&](std::string why) {
    errors.Invalid(place.Child("fieldPath").ToPath(), path, std::move(why));
  };
  if (text::TrimSpace(path).empty()) invalid("must be non-empty if specified");
  if (HasLineBreaks(path)) invalid("must not contain line breaks");
}

}  // namespace

bool IsNonAtomicSet(const Value& schema) {
  const Value items = schema["items"];
  if (schema[kListType].AsString() != "set" || !items.is_map()) return false;
  const std::string_view type = items["type"].AsString();
  const Value list_type = items[kListType];
  if (type == "array") return !list_type.is_null() && list_type.AsString() != "atomic";
  return type == "object" && items[kMapType].AsString() != "atomic";
}

bool HasUnsoundListKeys(const Value& schema) {
  const field::Path root;
  ErrorList errors;
  CheckSoundKeys(schema, Place(root), errors);
  return !errors.empty();
}

void CheckExtensions(const Value& schema, const Place& place, const Demands& demands,
                     ErrorList& errors) {
  const Value* const preserves = schema.Find("x-kubernetes-preserve-unknown-fields");
  if (preserves != nullptr && !preserves->AsBool()) {
    errors.InvalidPrinted(place.Child("x-kubernetes-preserve-unknown-fields").ToPath(), "false",
                          "must be true or undefined");
  }
  CheckMapType(schema, place, errors);
  CheckListType(schema, demands, place, errors);
  CheckListMap(schema, place, errors);
  if (demands.sound_list_keys) CheckSoundKeys(schema, place, errors);
}

void CheckRuleTexts(const Value& rules, const Place& place, ErrorList& errors) {
  const Place list = place.Child("x-kubernetes-validations");
  for (std::size_t i = 0; i < rules.size() && !errors.full(); ++i) {
    CheckRule(rules.at(i), list.Index(i), errors);
  }
}

}  // namespace apiserver::v0::apiextensions
