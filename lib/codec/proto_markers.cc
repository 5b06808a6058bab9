#include <algorithm>
#include <charconv>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "apiserver/base/field_path.h"
#include "apiserver/codec/json.h"

#include "base/status_macros.h"
#include "codec/proto_rules.h"

namespace apiserver::v0::codec {
namespace {

using runtime::Constraints;
using runtime::OwnedValue;
using runtime::Schema;
using runtime::SchemaParts;
using runtime::SchemaType;
using runtime::Value;

// The prefix of markers for the elements of a list or map.
constexpr std::string_view kItems = "items:";

Status Invalid(const Marker& marker, std::string_view why) {
  return Status(Reason::kInvalid, "+" + marker.name + "=" + marker.raw + ": " + std::string(why));
}

// Returns the short name of a marker that has several. Empty: it is no marker for values.
std::string PlainName(std::string_view name) {
  for (const std::string_view prefix : {"kubebuilder:validation:", "k8s:validation:", "k8s:"}) {
    if (!name.starts_with(prefix)) continue;
    std::string plain(name.substr(prefix.size()));
    std::size_t at = plain.starts_with(kItems) ? kItems.size() : 0;
    if (at < plain.size() && plain[at] >= 'A' && plain[at] <= 'Z') {
      plain[at] = static_cast<char>(plain[at] - 'A' + 'a');
    }
    return plain;
  }
  // Markers without a prefix are the old ones of Kubernetes.
  for (const std::string_view plain :
       {"optional", "required", "nullable", "listType", "listMapKey", "mapType", "structType",
        "patchStrategy", "patchMergeKey", "enum"}) {
    if (name == plain) return std::string(name);
  }
  return "";
}

Status Count(const Marker& marker, std::optional<std::int64_t>& out) {
  std::int64_t count = 0;
  const char* const end = marker.value.data() + marker.value.size();
  const auto [rest, error] = std::from_chars(marker.value.data(), end, count);
  if (error != std::errc() || rest != end) return Invalid(marker, "must be an integer");
  out = count;
  return {};
}

Status Number(const Marker& marker, std::optional<double>& out) {
  double number = 0;
  const char* const end = marker.value.data() + marker.value.size();
  const auto [rest, error] = std::from_chars(marker.value.data(), end, number);
  if (error != std::errc() || rest != end) return Invalid(marker, "must be a number");
  out = number;
  return {};
}

Status Flag(const Marker& marker, bool& out) {
  out = marker.value.empty() || marker.value == "true";
  if (!out && marker.value != "false") return Invalid(marker, "must be true or false");
  return {};
}

// Parses an entry of an enum that is written without JSON's quotes.
Value EnumEntry(std::string_view text, const SchemaParts& schema, runtime::Arena& arena) {
  if (schema.type != SchemaType::kString) {
    const Result<Value> value = ParseJson(text, arena);
    if (value.ok()) return *value;
  }
  if (text.size() >= 2 && text.front() == '"' && text.back() == '"') {
    text = text.substr(1, text.size() - 2);
  }
  return Value::String(text);
}

// Reads `A;B;C` or `["A","B"]`.
Status Enum(const Marker& marker, SchemaParts& schema) {
  runtime::Arena arena;
  if (marker.raw.starts_with('[')) {
    const Result<Value> list = ParseJson(marker.raw, arena);
    if (!list.ok()) return Invalid(marker, list.status().message());
    for (const Value& value : list->items()) schema.constraints.enum_values.emplace_back(value);
    return {};
  }
  std::string_view rest = marker.raw;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find(';'), rest.size());
    schema.constraints.enum_values.emplace_back(EnumEntry(rest.substr(0, end), schema, arena));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return {};
}

using Apply = Status (*)(const Marker&, SchemaParts&);

// Markers for the constraints that an OpenAPI schema has for a value.
const std::map<std::string_view, Apply>& ConstraintMarkers() {
  static const std::map<std::string_view, Apply> markers = {
      {"minimum", [](const Marker& m, SchemaParts& s) { return Number(m, s.constraints.minimum); }},
      {"maximum", [](const Marker& m, SchemaParts& s) { return Number(m, s.constraints.maximum); }},
      {"multipleOf",
       [](const Marker& m, SchemaParts& s) { return Number(m, s.constraints.multiple_of); }},
      {"exclusiveMinimum",
       [](const Marker& m, SchemaParts& s) { return Flag(m, s.constraints.exclusive_minimum); }},
      {"exclusiveMaximum",
       [](const Marker& m, SchemaParts& s) { return Flag(m, s.constraints.exclusive_maximum); }},
      {"uniqueItems",
       [](const Marker& m, SchemaParts& s) { return Flag(m, s.constraints.unique_items); }},
      {"minLength",
       [](const Marker& m, SchemaParts& s) { return Count(m, s.constraints.min_length); }},
      {"maxLength",
       [](const Marker& m, SchemaParts& s) { return Count(m, s.constraints.max_length); }},
      {"minItems",
       [](const Marker& m, SchemaParts& s) { return Count(m, s.constraints.min_items); }},
      {"maxItems",
       [](const Marker& m, SchemaParts& s) { return Count(m, s.constraints.max_items); }},
      {"minProperties",
       [](const Marker& m, SchemaParts& s) { return Count(m, s.constraints.min_properties); }},
      {"maxProperties",
       [](const Marker& m, SchemaParts& s) { return Count(m, s.constraints.max_properties); }},
      {"pattern",
       [](const Marker& m, SchemaParts& s) {
         s.constraints.pattern = m.value;
         return Status();
       }},
      {"format",
       [](const Marker& m, SchemaParts& s) {
         s.constraints.format = m.value;
         return Status();
       }},
      {"enum", &Enum},
  };
  return markers;
}

Status ListType(const Marker& marker, SchemaParts& schema) {
  if (schema.type != SchemaType::kList) return Invalid(marker, "is for lists");
  if (marker.value == "set") {
    schema.list_type = Schema::ListType::kSet;
  } else if (marker.value == "map") {
    schema.list_type = Schema::ListType::kMap;
  } else if (marker.value != "atomic") {
    return Invalid(marker, "must be atomic, set or map");
  }
  return {};
}

Status Granularity(const Marker& marker, SchemaParts& schema, SchemaType type) {
  if (schema.type != type) {
    return Invalid(marker, type == SchemaType::kMap ? "is for maps" : "is for messages");
  }
  schema.atomic = marker.value == "atomic";
  if (!schema.atomic && marker.value != "granular") {
    return Invalid(marker, "must be atomic or granular");
  }
  return {};
}

// Markers that say how several writers share a field.
const std::map<std::string_view, Apply>& TopologyMarkers() {
  static const std::map<std::string_view, Apply> markers = {
      {"listType", &ListType},
      {"listMapKey",
       [](const Marker& m, SchemaParts& s) {
         if (s.type != SchemaType::kList) return Invalid(m, "is for lists");
         s.list_map_keys.push_back(m.value);
         return Status();
       }},
      {"mapType",
       [](const Marker& m, SchemaParts& s) { return Granularity(m, s, SchemaType::kMap); }},
      {"structType",
       [](const Marker& m, SchemaParts& s) { return Granularity(m, s, SchemaType::kStruct); }},
      {"patchStrategy",
       [](const Marker& m, SchemaParts& s) {
         s.patch_strategy = m.value;
         return Status();
       }},
      {"patchMergeKey",
       [](const Marker& m, SchemaParts& s) {
         s.patch_merge_key = m.value;
         return Status();
       }},
      {"nullable", [](const Marker& m, SchemaParts& s) { return Flag(m, s.nullable); }},
  };
  return markers;
}

// Returns the function of a marker. Null: it is none for values.
Apply FindMarker(std::string_view plain) {
  for (const auto* table : {&TopologyMarkers(), &ConstraintMarkers()}) {
    const auto found = table->find(plain);
    if (found != table->end()) return found->second;
  }
  return nullptr;
}

Status ApplyMarker(const Marker& marker, SchemaParts& schema) {
  const std::string plain = PlainName(marker.name);
  if (!plain.starts_with(kItems)) {
    // Markers about other things, such as +optional, are no error: their readers look for them.
    const Apply apply = FindMarker(plain);
    return apply != nullptr ? apply(marker, schema) : Status();
  }
  const Apply apply = FindMarker(std::string_view(plain).substr(kItems.size()));
  if (apply == nullptr) return {};
  if (schema.items == nullptr) return Invalid(marker, "is for lists and maps");
  SchemaParts items(*schema.items);
  RETURN_IF_ERROR(apply(marker, items));
  schema.items = MakeSchema(items);
  return {};
}

}  // namespace

Optionality OptionalityOf(const ProtoComment& comment) {
  Optionality result;
  for (const Marker& marker : comment.markers) {
    const std::string name = PlainName(marker.name);
    if (name == "optional") result.optional = true;
    if (name == "required") result.required = true;
  }
  return result;
}

bool SaysOfValue(const ProtoComment& comment) {
  return std::any_of(comment.markers.begin(), comment.markers.end(), [](const Marker& marker) {
    const std::string plain = PlainName(marker.name);
    return plain.starts_with(kItems) || FindMarker(plain) != nullptr;
  });
}

Status ApplyMarkers(const ProtoComment& comment, SchemaParts& schema) {
  for (const Marker& marker : comment.markers) RETURN_IF_ERROR(ApplyMarker(marker, schema));
  const bool keyed = schema.type == SchemaType::kList && schema.list_type == Schema::ListType::kMap;
  if (keyed && schema.list_map_keys.empty()) {
    return Status(Reason::kInvalid, "+listType=map: needs +listMapKey");
  }
  return {};
}

Status ApplyDefault(const ProtoComment& comment, runtime::FieldParts& field) {
  for (const Marker& marker : comment.markers) {
    if (marker.name != "default" && marker.name != "kubebuilder:default" &&
        marker.name != "k8s:default") {
      continue;
    }
    runtime::Arena arena;
    const Result<Value> value = ParseJson(marker.raw, arena);
    if (!value.ok())
      return Invalid(marker, "must be JSON: " + std::string(value.status().message()));
    field.default_value = OwnedValue(*value);
  }
  return {};
}

}  // namespace apiserver::v0::codec
