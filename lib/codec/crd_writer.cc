#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "apiserver/codec/crd.h"
#include "apiserver/codec/yaml.h"
#include "apiserver/runtime/convert.h"

#include "base/status_macros.h"

namespace apiserver::v0::codec {
namespace {

using runtime::Arena;
using runtime::ConstraintsView;
using runtime::Field;
using runtime::KindVersion;
using runtime::ListBuilder;
using runtime::MapBuilder;
using runtime::Schema;
using runtime::SchemaType;
using runtime::Value;

// As schema_loader.cc reads.
constexpr int kWrittenDepthMax = 200;
// A schema that repeats its parts is written out: its size can double with every level.
constexpr std::size_t kWrittenPartsMax = 100'000;

Status NotWritten(std::string_view what, std::string_view why) {
  std::string text(what);
  text.append(": ").append(why);
  return {Reason::kInvalid, std::move(text)};
}

Value TextIn(std::string_view text, Arena& arena) { return Value::String(arena.Copy(text)); }

// A bound as people write it: 1, not 1.0.
Value BoundIn(double number) {
  constexpr double kExact = 9007199254740992.0;
  const bool whole = std::trunc(number) == number && std::fabs(number) <= kExact;
  return whole ? Value::Int(static_cast<std::int64_t>(number)) : Value::Double(number);
}

template <class Texts>
Value TextsIn(const Texts& texts, Arena& arena) {
  ListBuilder list(arena);
  for (const auto& text : texts) list.Add(TextIn(text, arena));
  return list.Build();
}

// Writes schemas from the root down, by recursion of bounded depth.
class OpenApiWriter {
 public:
  explicit OpenApiWriter(Arena& arena) : arena_(arena) {}

  Result<Value> Write(const Schema& schema) { return Write(schema, "", nullptr, "", 0); }

  // Without metadata, which every kind has.
  Result<Value> WriteRoot(const Schema& schema) {
    root_ = &schema;
    return Write(schema);
  }

 private:
  // `field` is what holds the schema, in `parent`; null: none does.
  Result<Value> Write(const Schema& schema, const std::string& description, const Field* field,
                      const std::string& path, int depth) {
    if (depth > kWrittenDepthMax) return NotWritten(path, "is nested too deeply");
    if (++parts_ > kWrittenPartsMax) return NotWritten(path, "the schema has too many parts");
    MapBuilder json(arena_);
    const std::string text = description.empty() ? schema.description() : description;
    if (!text.empty()) json.Add("description", TextIn(text, arena_));
    const Value* const fallback = field != nullptr && field->default_value() != nullptr
                                      ? field->default_value()
                                      : schema.default_value();
    if (fallback != nullptr) json.Add("default", runtime::Copy(*fallback, arena_));
    AddText("title", schema.title(), json);
    AddMarkers(schema, json);
    AddConstraints(schema.constraints(), json);
    if (const Value rules = schema.rule_list(); rules.is_list()) {
      json.Add("x-kubernetes-validations", runtime::Copy(rules, arena_));
    }
    RETURN_IF_ERROR(AddType(schema, path, depth, json));
    if (schema.has_junctors()) RETURN_IF_ERROR(AddJunctors(schema, path, depth, json));
    return json.Build();
  }

  void AddText(std::string_view key, std::string_view text, MapBuilder& json) {
    if (!text.empty()) json.Add(key, TextIn(text, arena_));
  }
  static void AddFlag(std::string_view key, bool flag, MapBuilder& json) {
    if (flag) json.Add(key, Value::Bool(true));
  }

  void AddMarkers(const Schema& schema, MapBuilder& json) {
    AddFlag("nullable", schema.nullable, json);
    // A part of any type is written as one that keeps all of its content.
    const bool any = schema.type == SchemaType::kAny || schema.type == SchemaType::kRaw;
    const bool keeps = schema.preserve_unknown_fields || (any && junctors_ == 0);
    AddFlag("x-kubernetes-preserve-unknown-fields", keeps, json);
    AddFlag("x-kubernetes-embedded-resource", schema.embedded_resource, json);
    AddText("x-kubernetes-patch-strategy", schema.patch_strategy(), json);
    AddText("x-kubernetes-patch-merge-key", schema.patch_merge_key(), json);
    AddText("x-kubernetes-map-type", schema.atomic ? "atomic" : "", json);
    if (schema.type != SchemaType::kList) return;
    if (schema.list_type == Schema::ListType::kSet) AddText("x-kubernetes-list-type", "set", json);
    if (schema.list_type == Schema::ListType::kMap) {
      AddText("x-kubernetes-list-type", "map", json);
      json.Add("x-kubernetes-list-map-keys", TextsIn(schema.list_map_keys(), arena_));
    }
  }

  void AddConstraints(const ConstraintsView& limits, MapBuilder& json) {
    const auto number = [&json](std::string_view key, std::optional<double> limit) {
      if (limit) json.Add(key, BoundIn(*limit));
    };
    const auto count = [&json](std::string_view key, std::optional<std::int64_t> limit) {
      if (limit) json.Add(key, Value::Int(*limit));
    };
    number("minimum", limits.minimum());
    number("maximum", limits.maximum());
    AddFlag("exclusiveMinimum", limits.exclusive_minimum(), json);
    AddFlag("exclusiveMaximum", limits.exclusive_maximum(), json);
    number("multipleOf", limits.multiple_of());
    count("minLength", limits.min_length());
    count("maxLength", limits.max_length());
    AddText("pattern", limits.pattern(), json);
    AddText("format", limits.format(), json);
    count("minItems", limits.min_items());
    count("maxItems", limits.max_items());
    AddFlag("uniqueItems", limits.unique_items(), json);
    count("minProperties", limits.min_properties());
    count("maxProperties", limits.max_properties());
    if (limits.enum_values().empty()) return;
    ListBuilder values(arena_);
    for (const Value& value : limits.enum_values()) values.Add(runtime::Copy(value, arena_));
    json.Add("enum", values.Build());
  }

  Status AddType(const Schema& schema, const std::string& path, int depth, MapBuilder& json) {
    switch (schema.type) {
      case SchemaType::kAny:
        return AddUntyped(schema, path, depth, json);
      case SchemaType::kIntOrString:
      case SchemaType::kQuantity:
        // A quantity may stand in JSON as a number, too.
        AddFlag("x-kubernetes-int-or-string", true, json);
        return {};
      case SchemaType::kStruct:
        AddText("type", "object", json);
        return AddUntyped(schema, path, depth, json);
      case SchemaType::kMap:
        AddText("type", "object", json);
        return AddValues(schema, path, depth, json);
      case SchemaType::kList:
        AddText("type", "array", json);
        return AddItems(schema, path, depth, json);
      default:
        AddText("type", runtime::OpenApiType(schema), json);
        return junctors_ == 0 ? Status() : AddUntyped(schema, path, depth, json);
    }
  }

  Status AddItems(const Schema& schema, const std::string& path, int depth, MapBuilder& json) {
    ASSIGN_OR_RETURN(const Value items,
                     Write(*schema.items(), "", nullptr, path + "[*]", depth + 1));
    json.Add("items", items);
    return {};
  }

  // Writes what a schema says about members and items, whatever its type is.
  Status AddUntyped(const Schema& schema, const std::string& path, int depth, MapBuilder& json) {
    RETURN_IF_ERROR(AddProperties(schema, path, depth, json));
    if (schema.items() != nullptr) RETURN_IF_ERROR(AddItems(schema, path, depth, json));
    if (schema.members() == nullptr) return {};
    return AddAdditional(*schema.members(), schema.closed(), path, depth, json);
  }

  Status AddValues(const Schema& schema, const std::string& path, int depth, MapBuilder& json) {
    const auto required = schema.required_names();
    if (!required.empty()) json.Add("required", TextsIn(required, arena_));
    return AddAdditional(*schema.items(), schema.closed(), path, depth, json);
  }

  Status AddAdditional(const Schema& values, bool closed, const std::string& path, int depth,
                       MapBuilder& json) {
    if (values.type == SchemaType::kAny && !values.preserve_unknown_fields) {
      json.Add("additionalProperties", Value::Bool(!closed));
      return {};
    }
    ASSIGN_OR_RETURN(const Value written, Write(values, "", nullptr, path + "[*]", depth + 1));
    json.Add("additionalProperties", written);
    return {};
  }

  Status AddJunctors(const Schema& schema, const std::string& path, int depth, MapBuilder& json) {
    ++junctors_;
    const std::pair<std::string_view, std::span<const runtime::SchemaPtr>> junctors[] = {
        {"allOf", schema.all_of()}, {"anyOf", schema.any_of()}, {"oneOf", schema.one_of()}};
    for (const auto& [key, schemas] : junctors) {
      if (schemas.empty()) continue;
      ListBuilder list(arena_);
      for (const runtime::SchemaPtr& part : schemas) {
        ASSIGN_OR_RETURN(const Value written, Write(*part, "", nullptr, path, depth + 1));
        list.Add(written);
      }
      json.Add(key, list.Build());
    }
    if (schema.not_of() != nullptr) {
      ASSIGN_OR_RETURN(const Value written, Write(*schema.not_of(), "", nullptr, path, depth + 1));
      json.Add("not", written);
    }
    --junctors_;
    return {};
  }

  Status AddProperties(const Schema& schema, const std::string& path, int depth, MapBuilder& json) {
    Members members{MapBuilder(arena_), ListBuilder(arena_)};
    RETURN_IF_ERROR(AddFields(schema, path, depth, members));
    for (const std::string_view name : schema.required_names()) {
      members.required.Add(TextIn(name, arena_));
    }
    if (members.properties.size() > 0) json.Add("properties", members.properties.Build());
    if (members.required.size() > 0) json.Add("required", members.required.Build());
    return {};
  }

  // The members of an object that are collected, those of its inlined fields included.
  struct Members {
    MapBuilder properties;
    ListBuilder required;
  };

  Status AddFields(const Schema& schema, const std::string& path, int depth, Members& members) {
    for (const Field& field : schema.fields()) {
      RETURN_IF_ERROR(AddMember(schema, field, path, depth, members));
    }
    return {};
  }

  Status AddMember(const Schema& schema, const Field& field, const std::string& path, int depth,
                   Members& members) {
    if (field.inlined) return AddFields(*field.schema, path, depth + 1, members);
    const bool metadata = &schema == root_ && field.name() == "metadata";
    return metadata ? AddMetadata(field, depth, members)
                    : AddField(schema, field, path, depth, members);
  }

  // Every kind has the same metadata, but for what its definition says about the names.
  Status AddMetadata(const Field& metadata, int depth, Members& members) {
    if (metadata.schema == runtime::ObjectMetaSchema()) return {};
    Members names{MapBuilder(arena_), ListBuilder(arena_)};
    for (const Field& field : metadata.schema->fields()) {
      if (field.name() != "name" && field.name() != "generateName") continue;
      if (field.schema == runtime::StringSchema()) continue;
      RETURN_IF_ERROR(AddField(*metadata.schema, field, "metadata", depth + 1, names));
    }
    MapBuilder json(arena_);
    json.Add("type", Value::String("object"));
    json.Add("properties", names.properties.Build());
    members.properties.Add("metadata", json.Build());
    return {};
  }

  Status AddField(const Schema& schema, const Field& field, std::string child, int depth,
                  Members& members) {
    if (!child.empty()) child += '.';
    child += field.name();
    ASSIGN_OR_RETURN(const Value property,
                     Write(*field.schema, schema.DescriptionOf(field), &field, child, depth + 1));
    members.properties.Add(arena_.Copy(field.name()), property);
    if (field.required) members.required.Add(TextIn(field.name(), arena_));
    return {};
  }

  Arena& arena_;
  const Schema* root_ = nullptr;  // The schema of a whole object; null: that of a part.
  int junctors_ = 0;              // How many junctors are around.
  std::size_t parts_ = 0;
};

// The versions of a kind that are written.
struct Written {
  const runtime::Kind& kind;
  std::vector<const KindVersion*> versions;
  std::string_view storage_version;
};

Written AllOf(const runtime::Kind& kind) {
  Written all{kind, {}, kind.storage_version()};
  for (const KindVersion& version : kind.versions()) all.versions.push_back(&version);
  return all;
}

// Fails for what no CustomResourceDefinition can be without.
Status CheckWritable(const Written& written) {
  const std::string name = written.kind.group_resource().ToString();
  if (written.kind.group().empty()) return NotWritten(name, "a custom resource has a group");
  for (const KindVersion* version : written.versions) {
    if (version->schema->type == SchemaType::kStruct) continue;
    return NotWritten(name + ", version " + version->version, "is no object");
  }
  return {};
}

// Adds a line for each conversion, which a single version does not need.
void AddConversions(const Written& written, std::vector<std::string>& omitted) {
  if (written.versions.size() < 2) return;
  const std::string name = written.kind.group_resource().ToString();
  if (&written.kind.converter() != runtime::FunctionConverter().get()) {
    omitted.push_back(name + ": its versions are converted by code");
  }
  for (const KindVersion* version : written.versions) {
    const std::string where = name + ", version " + version->version;
    if (version->to_hub || version->from_hub) omitted.push_back(where + ": is converted by code");
    if (!version->conversions.empty()) omitted.push_back(where + ": has fields of other names");
  }
}

void AddDefaults(const Written& written, std::vector<std::string>& omitted) {
  for (const KindVersion* version : written.versions) {
    if (!version->set_defaults) continue;
    omitted.push_back(written.kind.group_resource().ToString() + ", version " + version->version +
                      ": has defaults that code sets");
  }
}

bool HasField(const Schema& root, std::string_view path) {
  const Schema* at = &root;
  while (at != nullptr && !path.empty()) {
    const std::size_t dot = std::min(path.find('.'), path.size());
    const Field* const field = at->FindField(path.substr(0, dot));
    at = field != nullptr ? field->schema.get() : nullptr;
    path.remove_prefix(std::min(dot + 1, path.size()));
  }
  return at != nullptr;
}

Value ColumnsIn(const std::vector<runtime::PrinterColumn>& columns, Arena& arena) {
  ListBuilder list(arena);
  for (const runtime::PrinterColumn& column : columns) {
    MapBuilder json(arena);
    json.Add("name", TextIn(column.name, arena));
    json.Add("type", TextIn(column.type, arena));
    json.Add("jsonPath", TextIn(column.json_path, arena));
    if (!column.format.empty()) json.Add("format", TextIn(column.format, arena));
    if (!column.description.empty()) json.Add("description", TextIn(column.description, arena));
    if (column.priority != 0) json.Add("priority", Value::Int(column.priority));
    list.Add(json.Build());
  }
  return list.Build();
}

Value SubresourcesIn(const KindVersion& version, Arena& arena) {
  MapBuilder subresources(arena);
  if (version.status_subresource.value_or(false)) subresources.Add("status", Value::Map({}));
  if (version.scale) {
    MapBuilder scale(arena);
    scale.Add("specReplicasPath", TextIn(version.scale->spec_replicas, arena));
    scale.Add("statusReplicasPath", TextIn(version.scale->status_replicas, arena));
    const std::string& selector = version.scale->label_selector;
    if (!selector.empty()) scale.Add("labelSelectorPath", TextIn(selector, arena));
    subresources.Add("scale", scale.Build());
  }
  return subresources.Build();
}

Value SelectableFieldsIn(const Written& written, const KindVersion& version, Arena& arena) {
  ListBuilder fields(arena);
  for (const std::string& path : written.kind.selectable_fields()) {
    const bool stored = version.version == written.kind.storage_version();
    if (!stored && !HasField(*version.schema, path)) continue;
    MapBuilder field(arena);
    field.Add("jsonPath", TextIn("." + path, arena));
    fields.Add(field.Build());
  }
  return fields.Build();
}

Result<Value> VersionIn(const Written& written, const KindVersion& version, Arena& arena) {
  auto schema = OpenApiWriter(arena).WriteRoot(*version.schema);
  if (!schema.ok()) return NotWritten(version.version, schema.status().message());
  MapBuilder json(arena);
  json.Add("name", TextIn(version.version, arena));
  json.Add("served", Value::Bool(version.served));
  json.Add("storage", Value::Bool(version.version == written.storage_version));
  if (!version.deprecation_warning.empty()) {
    json.Add("deprecated", Value::Bool(true));
    json.Add("deprecationWarning", TextIn(version.deprecation_warning, arena));
  }
  const auto add = [&json](std::string_view key, Value value) {
    if (value.size() > 0) json.Add(key, value);
  };
  add("subresources", SubresourcesIn(version, arena));
  add("additionalPrinterColumns", ColumnsIn(version.columns, arena));
  add("selectableFields", SelectableFieldsIn(written, version, arena));
  MapBuilder validation(arena);
  validation.Add("openAPIV3Schema", *schema);
  json.Add("schema", validation.Build());
  return json.Build();
}

Value NamesIn(const runtime::Kind& kind, Arena& arena) {
  MapBuilder names(arena);
  names.Add("plural", TextIn(kind.plural(), arena));
  names.Add("singular", TextIn(kind.singular(), arena));
  names.Add("kind", TextIn(kind.kind(), arena));
  names.Add("listKind", TextIn(kind.list_kind(), arena));
  if (!kind.short_names().empty()) names.Add("shortNames", TextsIn(kind.short_names(), arena));
  if (!kind.categories().empty()) names.Add("categories", TextsIn(kind.categories(), arena));
  return names.Build();
}

Result<Value> CrdIn(const Written& written, bool needs_webhook, Arena& arena) {
  const runtime::Kind& kind = written.kind;
  ListBuilder versions(arena);
  for (const KindVersion* version : written.versions) {
    ASSIGN_OR_RETURN(const Value json, VersionIn(written, *version, arena));
    versions.Add(json);
  }
  MapBuilder spec(arena);
  spec.Add("group", TextIn(kind.group(), arena));
  spec.Add("names", NamesIn(kind, arena));
  spec.Add("scope", TextIn(kind.namespaced() ? "Namespaced" : "Cluster", arena));
  if (needs_webhook) {
    MapBuilder conversion(arena);
    conversion.Add("strategy", TextIn("Webhook", arena));
    spec.Add("conversion", conversion.Build());
  }
  spec.Add("versions", versions.Build());
  MapBuilder metadata(arena);
  metadata.Add("name", TextIn(kind.group_resource().ToString(), arena));
  MapBuilder crd(arena);
  crd.Add("apiVersion", TextIn("apiextensions.k8s.io/v1", arena));
  crd.Add("kind", TextIn("CustomResourceDefinition", arena));
  crd.Add("metadata", metadata.Build());
  crd.Add("spec", spec.Build());
  return crd.Build();
}

Status NoSuchVersion(const Written& all, std::string_view version) {
  std::string text = all.kind.group_resource().ToString() + " has no version ";
  text.append(version).append("; it has");
  for (const KindVersion* each : all.versions) text += " " + each->version + ",";
  text.pop_back();
  return {Reason::kNotFound, std::move(text)};
}

}  // namespace

Result<Value> OpenApiFromSchema(const Schema& schema, Arena& arena) {
  return OpenApiWriter(arena).Write(schema);
}

Result<Value> CrdFromKind(const runtime::Kind& kind, Arena& arena) {
  const Written all = AllOf(kind);
  RETURN_IF_ERROR(CheckWritable(all));
  std::vector<std::string> omitted;
  AddConversions(all, omitted);
  AddDefaults(all, omitted);
  if (!omitted.empty()) return Status(Reason::kInvalid, omitted.front());
  return CrdIn(all, /*needs_webhook=*/false, arena);
}

Result<std::string> CrdFromKind(const runtime::Kind& kind) {
  Arena arena;
  ASSIGN_OR_RETURN(const Value crd, CrdFromKind(kind, arena));
  std::string text;
  AppendYaml(crd, text);
  return text;
}

Result<PartialCrd> PartialCrdFromKind(const runtime::Kind& kind, std::string_view version) {
  const KindVersion* const only = kind.FindVersion(version);
  if (only == nullptr && !version.empty()) return NoSuchVersion(AllOf(kind), version);
  const Written written = only != nullptr ? Written{kind, {only}, only->version} : AllOf(kind);
  RETURN_IF_ERROR(CheckWritable(written));
  PartialCrd partial;
  AddConversions(written, partial.omitted);
  partial.needs_webhook = !partial.omitted.empty();
  AddDefaults(written, partial.omitted);
  Arena arena;
  ASSIGN_OR_RETURN(const Value crd, CrdIn(written, partial.needs_webhook, arena));
  AppendYaml(crd, partial.yaml);
  return partial;
}

}  // namespace apiserver::v0::codec
