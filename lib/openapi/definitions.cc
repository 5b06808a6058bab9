#include "openapi/definitions.h"

#include <optional>
#include <type_traits>
#include <utility>

#include "apiserver/openapi/spec.h"
#include "openapi/meta_texts.h"

namespace apiserver::v0::openapi {

namespace {

using runtime::MapBuilder;
using runtime::Schema;
using runtime::SchemaType;
using runtime::Value;

// Returns OpenAPI's `format` for types that have one.
std::string_view FormatOf(const Schema& schema) {
  switch (schema.type) {
    case SchemaType::kInteger:
      return schema.bits == 32 ? "int32" : "int64";
    case SchemaType::kNumber:
      return "double";
    case SchemaType::kBytes:
      return "byte";
    case SchemaType::kTime:
    case SchemaType::kMicroTime:
      return "date-time";
    case SchemaType::kIntOrString:
      return "int-or-string";
    default:
      return schema.constraints().format();
  }
}

}  // namespace

void Definitions::AddScalar(const Schema& schema, MapBuilder& map) const {
  const std::string_view format = FormatOf(schema);
  if (schema.type == SchemaType::kIntOrString) {
    // Swagger 2.0 has no oneOf.
    if (format_ == Format::kV2) {
      map.Add("type", Value::String("string"));
    } else {
      runtime::ListBuilder one_of(tree_.arena());
      for (std::string_view type : {"integer", "string"}) {
        MapBuilder each(tree_.arena());
        each.Add("type", Value::String(type));
        one_of.Add(each.Build());
      }
      map.Add("oneOf", one_of.Build());
    }
  } else if (const std::string_view type = OpenApiType(schema); !type.empty()) {
    map.Add("type", tree_.String(type));
  }
  if (!format.empty()) map.Add("format", tree_.String(format));
}

void Definitions::AddConstraints(runtime::ConstraintsView limits, MapBuilder& map) const {
  const auto add = [&map](std::string_view name, const auto& limit) {
    if (!limit) return;
    if constexpr (std::is_same_v<std::decay_t<decltype(*limit)>, double>) {
      map.Add(name, Value::Double(*limit));
    } else {
      map.Add(name, Value::Int(*limit));
    }
  };
  add("minimum", limits.minimum());
  add("maximum", limits.maximum());
  add("multipleOf", limits.multiple_of());
  add("minLength", limits.min_length());
  add("maxLength", limits.max_length());
  add("minItems", limits.min_items());
  add("maxItems", limits.max_items());
  add("minProperties", limits.min_properties());
  add("maxProperties", limits.max_properties());
  if (limits.exclusive_minimum()) map.Add("exclusiveMinimum", Value::Bool(true));
  if (limits.exclusive_maximum()) map.Add("exclusiveMaximum", Value::Bool(true));
  if (limits.unique_items()) map.Add("uniqueItems", Value::Bool(true));
  if (!limits.pattern().empty()) map.Add("pattern", tree_.String(limits.pattern()));
  if (limits.enum_values().empty()) return;
  runtime::ListBuilder values(tree_.arena());
  for (const Value& value : limits.enum_values()) {
    values.Add(runtime::Copy(value, tree_.arena()));
  }
  map.Add("enum", values.Build());
}

void Definitions::AddMarkers(const Schema& schema, MapBuilder& map) const {
  if (schema.type == SchemaType::kList) {
    if (schema.list_type == Schema::ListType::kSet) {
      map.Add("x-kubernetes-list-type", Value::String("set"));
    } else if (schema.list_type == Schema::ListType::kMap) {
      map.Add("x-kubernetes-list-type", Value::String("map"));
      map.Add("x-kubernetes-list-map-keys", tree_.Strings(schema.list_map_keys()));
    } else {
      map.Add("x-kubernetes-list-type", Value::String("atomic"));
    }
  }
  if (schema.atomic) map.Add("x-kubernetes-map-type", Value::String("atomic"));
  if (schema.preserve_unknown_fields) {
    map.Add("x-kubernetes-preserve-unknown-fields", Value::Bool(true));
  }
  if (schema.embedded_resource) {
    map.Add("x-kubernetes-embedded-resource", Value::Bool(true));
  }
  if (const Value rules = schema.rule_list(); rules.is_list()) {
    map.Add("x-kubernetes-validations", runtime::Copy(rules, tree_.arena()));
  }
  // Swagger 2.0 has no `nullable`.
  if (schema.nullable && format_ == Format::kV3) map.Add("nullable", Value::Bool(true));
}

void Definitions::AddPatchMarkers(const Schema& schema, MapBuilder& map) const {
  if (!schema.patch_strategy().empty()) {
    map.Add("x-kubernetes-patch-strategy", tree_.String(schema.patch_strategy()));
  }
  if (!schema.patch_merge_key().empty()) {
    map.Add("x-kubernetes-patch-merge-key", tree_.String(schema.patch_merge_key()));
  }
}

Value Definitions::Use(const Schema& schema, std::string_view description,
                       const runtime::Field* field) {
  MapBuilder map(tree_.arena());
  if (!description.empty()) map.Add("description", tree_.String(description));
  if (field && field->default_value() != nullptr) {
    map.Add("default", runtime::Copy(*field->default_value(), tree_.arena()));
  }
  // Patch markers belong to the field and not to the type.
  AddPatchMarkers(schema, map);
  if (!schema.name().empty() && schema.type == SchemaType::kStruct) {
    AddSchema(schema);
    const Value ref = tree_.Ref(schema.name(), format_);
    if (map.size() == 0) return ref;
    if (format_ == Format::kV2) {
      map.Add("$ref", ref["$ref"]);
    } else {
      // OpenAPI v3.0 ignores the siblings of a $ref.
      runtime::ListBuilder all_of(tree_.arena());
      all_of.Add(ref);
      map.Add("allOf", all_of.Build());
    }
    return map.Build();
  }
  AddScalar(schema, map);
  AddConstraints(schema.constraints(), map);
  AddMarkers(schema, map);
  if (schema.type == SchemaType::kStruct) AddProperties(schema, /*type_meta=*/false, map);
  if (schema.items()) {
    map.Add(schema.type == SchemaType::kList ? "items" : "additionalProperties",
            Use(*schema.items(),
                schema.items()->name().empty() ? schema.items()->description() : "", nullptr));
  }
  return map.Build();
}

void Definitions::AppendFields(const Schema& schema, MapBuilder& properties,
                               std::vector<std::string>& required) {
  for (const runtime::Field& field : schema.fields()) {
    if (field.inlined) {
      AppendFields(*field.schema, properties, required);
      continue;
    }
    if (field.required) required.emplace_back(field.name());
    const std::string described = schema.DescriptionOf(field);
    const std::string own = field.schema->name().empty() ? field.schema->description() : "";
    properties.Add(tree_.Text(field.name()),
                   Use(*field.schema, described.empty() ? own : described, &field));
  }
}

void Definitions::AddTypeMeta(MapBuilder& properties) const {
  for (const auto& [name, description] :
       {std::pair("apiVersion", kApiVersionText), std::pair("kind", kKindText)}) {
    MapBuilder property(tree_.arena());
    property.Add("description", Value::String(description));
    property.Add("type", Value::String("string"));
    properties.Add(name, property.Build());
  }
}

void Definitions::AddProperties(const Schema& schema, bool type_meta, MapBuilder& map) {
  MapBuilder properties(tree_.arena());
  std::vector<std::string> required;
  if (type_meta) AddTypeMeta(properties);
  AppendFields(schema, properties, required);
  if (properties.size() > 0) map.Add("properties", properties.Build());
  if (!required.empty()) map.Add("required", tree_.Strings(required));
}

Value Definitions::Gvks(const std::vector<runtime::GroupVersionKind>& gvks) const {
  runtime::ListBuilder list(tree_.arena());
  for (const runtime::GroupVersionKind& gvk : gvks) {
    MapBuilder each(tree_.arena());
    each.Add("group", tree_.String(gvk.group));
    each.Add("kind", tree_.String(gvk.kind));
    each.Add("version", tree_.String(gvk.version));
    list.Add(each.Build());
  }
  return list.Build();
}

void Definitions::AddSchema(const Schema& schema) {
  if (AddShared(schema.name())) return;
  // Reserved first: a schema may refer to another that refers to it by name.
  if (!definitions_.emplace(schema.name(), Value()).second) return;
  MapBuilder map(tree_.arena());
  if (!schema.description().empty()) map.Add("description", tree_.String(schema.description()));
  map.Add("type", Value::String("object"));
  AddProperties(schema, /*type_meta=*/false, map);
  AddMarkers(schema, map);
  definitions_[std::string(schema.name())] = map.Build();
}

void Definitions::AddKind(const runtime::Kind& kind, std::string_view version, bool list) {
  const runtime::KindVersion* found = kind.FindVersion(version);
  const std::string name = DefinitionName(kind, version);
  if (!found || Has(name)) return;
  if (AddShared(name)) {
    if (list) AddList(kind, version, name);
    return;
  }
  definitions_.emplace(name, Value());
  MapBuilder map(tree_.arena());
  if (found->schema && !found->schema->description().empty()) {
    map.Add("description", tree_.String(found->schema->description()));
  }
  map.Add("type", Value::String("object"));
  if (found->schema) {
    AddProperties(*found->schema, /*type_meta=*/true, map);
    AddMarkers(*found->schema, map);
  }
  map.Add("x-kubernetes-group-version-kind", Gvks({kind.gvk(version)}));
  definitions_[name] = map.Build();
  if (list) AddList(kind, version, name);
}

void Definitions::AddList(const runtime::Kind& kind, std::string_view version,
                          const std::string& item) {
  MapBuilder properties(tree_.arena());
  AddTypeMeta(properties);
  const runtime::SchemaPtr list_meta = runtime::ListMetaSchema();
  properties.Add("metadata", Use(*list_meta, kListMetaText, nullptr));
  MapBuilder items(tree_.arena());
  items.Add("description", tree_.String("The objects of kind " + kind.kind() + "."));
  items.Add("type", Value::String("array"));
  items.Add("items", tree_.Ref(item, format_));
  properties.Add("items", items.Build());

  MapBuilder map(tree_.arena());
  map.Add("description", tree_.String("A list of objects of kind " + kind.kind() + "."));
  map.Add("type", Value::String("object"));
  map.Add("required", tree_.Strings({"items"}));
  map.Add("properties", properties.Build());
  map.Add("x-kubernetes-group-version-kind",
          Gvks({{kind.group(), std::string(version), kind.list_kind()}}));
  definitions_.emplace(item + "List", map.Build());
}

}  // namespace apiserver::v0::openapi
