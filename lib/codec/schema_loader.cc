#include "apiserver/codec/schema_loader.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "apiserver/codec/yaml.h"

#include "base/status_macros.h"

namespace apiserver::v0::codec {
namespace {

using runtime::Constraints;
using runtime::FieldParts;
using runtime::KindOptions;
using runtime::KindVersion;
using runtime::Member;
using runtime::OwnedValue;
using runtime::Schema;
using runtime::SchemaParts;
using runtime::SchemaPool;
using runtime::SchemaPtr;
using runtime::SchemaType;
using runtime::SourceText;
using runtime::ValidationRule;
using runtime::Value;

// The members of a rule that are texts.
constexpr std::array<std::string_view, 5> kTextsOfRule = {"rule", "message", "messageExpression",
                                                          "reason", "fieldPath"};

// Schemas are read by recursion, so their depth is limited. Real ones stay far below.
constexpr int kSchemaDepthMax = 200;

Status Invalid(const std::string& path, std::string_view what) {
  return Status(Reason::kInvalid, (path.empty() ? "the schema" : path) + ": " + std::string(what));
}

std::optional<std::int64_t> IntOf(const Value& value) {
  if (!value.is_number()) return std::nullopt;
  return value.AsInt();
}
std::optional<double> NumberOf(const Value& value) {
  if (!value.is_number()) return std::nullopt;
  return value.AsDouble();
}
std::string TextOf(const Value& value) { return std::string(value.AsString()); }

Constraints ConstraintsOf(const Value& json) {
  Constraints constraints;
  constraints.minimum = NumberOf(json["minimum"]);
  constraints.maximum = NumberOf(json["maximum"]);
  constraints.exclusive_minimum = json["exclusiveMinimum"].AsBool();
  constraints.exclusive_maximum = json["exclusiveMaximum"].AsBool();
  constraints.multiple_of = NumberOf(json["multipleOf"]);
  constraints.min_length = IntOf(json["minLength"]);
  constraints.max_length = IntOf(json["maxLength"]);
  constraints.pattern = TextOf(json["pattern"]);
  constraints.format = TextOf(json["format"]);
  constraints.min_items = IntOf(json["minItems"]);
  constraints.max_items = IntOf(json["maxItems"]);
  constraints.unique_items = json["uniqueItems"].AsBool();
  constraints.min_properties = IntOf(json["minProperties"]);
  constraints.max_properties = IntOf(json["maxProperties"]);
  for (const Value& value : json["enum"].items()) constraints.enum_values.emplace_back(value);
  return constraints;
}

// Reads x-kubernetes-validations. Members that a rule does not have are ignored, as Go does.
Result<std::vector<ValidationRule>> RulesOf(const Value& json, const std::string& path) {
  std::vector<ValidationRule> rules;
  if (json.is_null()) return rules;
  if (!json.is_list()) return Invalid(path, "x-kubernetes-validations must be an array");
  for (const Value& object : json.items()) {
    if (!object.is_map()) return Invalid(path, "x-kubernetes-validations must hold objects");
    for (const std::string_view key : kTextsOfRule) {
      const Value text = object[key];
      if (text.is_null() || text.is_string()) continue;
      return Invalid(path, "x-kubernetes-validations: " + std::string(key) + " must be a string");
    }
    ValidationRule& rule = rules.emplace_back();
    rule.rule = TextOf(object["rule"]);
    rule.message = TextOf(object["message"]);
    rule.message_expression = TextOf(object["messageExpression"]);
    rule.reason = TextOf(object["reason"]);
    rule.field_path = TextOf(object["fieldPath"]);
    const Value optional = object["optionalOldSelf"];
    if (optional.is_null()) continue;
    if (optional.type() != Value::Type::kBool) {
      return Invalid(path, "x-kubernetes-validations: optionalOldSelf must be a boolean");
    }
    rule.optional_old_self = optional.AsBool();
  }
  return rules;
}

void AddAll(const Value& list, std::vector<Value>& open) {
  open.insert(open.end(), list.items().begin(), list.items().end());
}

// Tells if a schema's junctors, which are not read here, hold rules.
bool HasNestedRules(const Value& json) {
  std::vector<Value> open;
  const auto add_junctors = [&open](const Value& schema) {
    for (const std::string_view key : {"allOf", "anyOf", "oneOf"}) AddAll(schema[key], open);
    open.push_back(schema["not"]);
  };
  add_junctors(json);
  while (!open.empty()) {
    const Value schema = open.back();
    open.pop_back();
    if (!schema.is_map()) continue;
    if (schema["x-kubernetes-validations"].size() > 0) return true;
    add_junctors(schema);
    open.push_back(schema["items"]);
    open.push_back(schema["additionalProperties"]);
    for (const Member& property : schema["properties"].members()) open.push_back(property.value);
  }
  return false;
}

// Reads schemas into a pool, from the leaves up.
class OpenApiLoader {
 public:
  explicit OpenApiLoader(SchemaPool& pool) : pool_(pool) {}

  Result<SchemaPtr> Load(const Value& json) {
    ASSIGN_OR_RETURN(const SchemaParts parts, Parts(json, "", 0));
    return pool_.Make(parts);
  }

  // Leaves out kind and apiVersion, and puts metadata first.
  Result<SchemaPtr> LoadRoot(const Value& json) {
    ASSIGN_OR_RETURN(SchemaParts root, Parts(json, "", 0));
    if (root.type != SchemaType::kStruct) {
      return Invalid("", "must be an object with properties");
    }
    // A CRD may describe metadata too, but it is the same in all kinds.
    std::erase_if(root.fields, [](const FieldParts& field) {
      return field.name == "apiVersion" || field.name == "kind" || field.name == "metadata";
    });
    FieldParts metadata;
    metadata.name = "metadata";
    metadata.schema = runtime::ObjectMetaSchema();
    root.fields.insert(root.fields.begin(), std::move(metadata));
    return pool_.Make(root);
  }

 private:
  Result<SchemaPtr> Nested(const Value& json, const std::string& path, int depth) {
    ASSIGN_OR_RETURN(const SchemaParts parts, Parts(json, path, depth));
    return pool_.Make(parts);
  }

  Result<SchemaParts> Parts(const Value& json, const std::string& path, int depth) {
    if (depth > kSchemaDepthMax) return Invalid(path, "is nested too deeply");
    if (!json.is_map()) return Invalid(path, "must be an object");
    if (!json["$ref"].is_null()) {
      return Invalid(path, "$ref is not allowed in a structural schema");
    }
    SchemaParts schema;
    Describe(json["description"].AsString(), schema.description, schema.source_description);
    schema.nullable = json["nullable"].AsBool();
    schema.preserve_unknown_fields = json["x-kubernetes-preserve-unknown-fields"].AsBool();
    schema.embedded_resource = json["x-kubernetes-embedded-resource"].AsBool();
    schema.patch_strategy = TextOf(json["x-kubernetes-patch-strategy"]);
    schema.patch_merge_key = TextOf(json["x-kubernetes-patch-merge-key"]);
    schema.constraints = ConstraintsOf(json);
    ASSIGN_OR_RETURN(schema.rules, RulesOf(json["x-kubernetes-validations"], path));
    if (HasNestedRules(json)) {
      return Invalid(path,
                     "x-kubernetes-validations within allOf, anyOf, oneOf or not must be empty to "
                     "be structural");
    }
    RETURN_IF_ERROR(LoadType(json, path, depth, schema));
    return schema;
  }

  Status LoadType(const Value& json, const std::string& path, int depth, SchemaParts& schema) {
    const std::string_view type = json["type"].AsString();
    if (json["x-kubernetes-int-or-string"].AsBool()) {
      schema.type = SchemaType::kIntOrString;
    } else if (type == "object" || (type.empty() && schema.embedded_resource)) {
      return LoadObject(json, path, depth, schema);
    } else if (type == "array") {
      return LoadList(json, path, depth, schema);
    } else if (type == "string") {
      schema.type = SchemaType::kString;
    } else if (type == "boolean") {
      schema.type = SchemaType::kBoolean;
    } else if (type == "number") {
      schema.type = SchemaType::kNumber;
    } else if (type == "integer") {
      schema.type = SchemaType::kInteger;
      schema.bits = json["format"].AsString() == "int32" ? 32 : 64;
    } else if (type.empty() && schema.preserve_unknown_fields) {
      schema.type = SchemaType::kAny;
    } else {
      return Invalid(
          path, type.empty() ? "must have a type" : "unknown type \"" + std::string(type) + "\"");
    }
    return {};
  }

  Status LoadObject(const Value& json, const std::string& path, int depth, SchemaParts& schema) {
    schema.atomic = json["x-kubernetes-map-type"].AsString() == "atomic";
    const Value values = json["additionalProperties"];
    // Without additionalProperties an object has its properties and no others.
    if (values.is_null() || (values.type() == Value::Type::kBool && !values.AsBool())) {
      schema.type = SchemaType::kStruct;
      return LoadProperties(json, path, depth, schema);
    }
    if (!json["properties"].is_null()) {
      return Invalid(path, "properties and additionalProperties are mutually exclusive");
    }
    schema.type = SchemaType::kMap;
    if (!values.is_map()) {
      schema.items = runtime::AnySchema();
      return {};
    }
    ASSIGN_OR_RETURN(schema.items, Nested(values, path + "[*]", depth + 1));
    return {};
  }

  Status LoadProperties(const Value& json, const std::string& path, int depth,
                        SchemaParts& schema) {
    const auto required = json["required"].items();
    for (const Member& property : json["properties"].members()) {
      FieldParts field;
      field.name = std::string(property.key);
      const std::string child = path.empty() ? field.name : path + "." + field.name;
      ASSIGN_OR_RETURN(SchemaParts parts, Parts(property.value, child, depth + 1));
      // Kept at the field, so that types that differ in nothing else are shared.
      field.description = std::exchange(parts.description, "");
      field.source_description = std::exchange(parts.source_description, {});
      field.schema = pool_.Make(parts);
      field.required = std::any_of(required.begin(), required.end(), [&](const Value& name) {
        return name.AsString() == property.key;
      });
      if (const Value* fallback = property.value.Find("default")) {
        field.default_value = OwnedValue(*fallback);
      }
      schema.fields.push_back(std::move(field));
    }
    return {};
  }

  Status LoadList(const Value& json, const std::string& path, int depth, SchemaParts& schema) {
    schema.type = SchemaType::kList;
    if (!json["items"].is_map()) return Invalid(path, "an array must have items");
    ASSIGN_OR_RETURN(schema.items, Nested(json["items"], path + "[*]", depth + 1));
    const std::string_view type = json["x-kubernetes-list-type"].AsString();
    if (type == "set") schema.list_type = Schema::ListType::kSet;
    if (type == "map") schema.list_type = Schema::ListType::kMap;
    for (const Value& key : json["x-kubernetes-list-map-keys"].items()) {
      schema.list_map_keys.push_back(TextOf(key));
    }
    if (schema.list_type == Schema::ListType::kMap && schema.list_map_keys.empty()) {
      return Invalid(path, "x-kubernetes-list-type map must have x-kubernetes-list-map-keys");
    }
    return {};
  }

  // Refers to a description in the source if it is there without escapes; else copies it.
  void Describe(std::string_view text, std::string& copied, SourceText& in_source) {
    in_source = pool_.Find(text);
    if (in_source.size == 0) copied = text;
  }

  SchemaPool& pool_;
};

Result<Value> ParseText(std::string_view text, runtime::Arena& arena) {
  return ParseYaml(text, arena);
}

std::vector<std::string> TextsOf(const Value& list) {
  std::vector<std::string> texts;
  for (const Value& text : list.items()) texts.push_back(TextOf(text));
  return texts;
}

Result<KindVersion> VersionFromCrd(const Value& json, const Value& spec, SchemaPool& pool) {
  KindVersion version;
  version.version = TextOf(json["name"]);
  version.served = json["served"].AsBool();
  if (json["deprecated"].AsBool()) {
    version.deprecation_warning = TextOf(json["deprecationWarning"]);
    if (version.deprecation_warning.empty()) {
      version.deprecation_warning = TextOf(spec["group"]) + "/" + version.version + " " +
                                    TextOf(spec["names"]["kind"]) + " is deprecated";
    }
  }
  for (const Value& column : json["additionalPrinterColumns"].items()) {
    version.columns.push_back({.name = TextOf(column["name"]),
                               .type = TextOf(column["type"]),
                               .json_path = TextOf(column["jsonPath"]),
                               .format = TextOf(column["format"]),
                               .description = TextOf(column["description"]),
                               .priority = static_cast<int>(column["priority"].AsInt())});
  }
  const Value subresources = json["subresources"];
  version.status_subresource = !subresources["status"].is_null();
  if (const Value scale = subresources["scale"]; scale.is_map()) {
    version.scale = runtime::ScalePaths{.spec_replicas = TextOf(scale["specReplicasPath"]),
                                        .status_replicas = TextOf(scale["statusReplicasPath"]),
                                        .label_selector = TextOf(scale["labelSelectorPath"])};
  }
  ASSIGN_OR_RETURN(version.schema, RootSchemaFromOpenApi(json["schema"]["openAPIV3Schema"], pool));
  return version;
}

}  // namespace

Result<SchemaPtr> SchemaFromOpenApi(Value schema, SchemaPool& pool) {
  return OpenApiLoader(pool).Load(schema);
}

Result<SchemaPtr> SchemaFromOpenApi(Value schema) {
  SchemaPool pool;
  return SchemaFromOpenApi(schema, pool);
}

Result<SchemaPtr> SchemaFromText(std::string_view text) {
  runtime::Arena arena;
  ASSIGN_OR_RETURN(const Value json, ParseText(text, arena));
  return SchemaFromOpenApi(json);
}

Result<SchemaPtr> RootSchemaFromOpenApi(Value schema, SchemaPool& pool) {
  return OpenApiLoader(pool).LoadRoot(schema);
}

Result<SchemaPtr> RootSchemaFromOpenApi(Value schema) {
  SchemaPool pool;
  return RootSchemaFromOpenApi(schema, pool);
}

Result<KindOptions> KindOptionsFromCrd(std::string_view text) {
  runtime::Arena arena;
  ASSIGN_OR_RETURN(const Value crd, ParseText(text, arena));
  SchemaPool pool;
  return KindOptionsFromCrd(crd, pool);
}

Result<KindOptions> KindOptionsFromCrd(Value crd, SchemaPool& pool) {
  const Value spec = crd["spec"];
  const Value names = spec["names"];
  KindOptions options;
  options.group = TextOf(spec["group"]);
  options.kind = TextOf(names["kind"]);
  options.plural = TextOf(names["plural"]);
  options.singular = TextOf(names["singular"]);
  options.list_kind = TextOf(names["listKind"]);
  options.short_names = TextsOf(names["shortNames"]);
  options.categories = TextsOf(names["categories"]);
  options.namespaced = spec["scope"].AsString() != "Cluster";
  options.semantics = runtime::Semantics::kCustomResource;
  for (const Value& json : spec["versions"].items()) {
    ASSIGN_OR_RETURN(KindVersion version, VersionFromCrd(json, spec, pool));
    // The hub is the storage version: objects from storage then need no conversion on their way to
    // it.
    if (json["storage"].AsBool()) {
      options.hub_version = version.version;
      options.storage_version = version.version;
      for (const Value& field : json["selectableFields"].items()) {
        std::string path = TextOf(field["jsonPath"]);
        options.selectable_fields.push_back(path.starts_with('.') ? path.substr(1) : path);
      }
    }
    options.versions.push_back(std::move(version));
  }
  if (options.hub_version.empty()) return Invalid("spec.versions", "none is the storage version");
  return options;
}

}  // namespace apiserver::v0::codec
