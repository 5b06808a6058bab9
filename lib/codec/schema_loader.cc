#include "apiserver/codec/schema_loader.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "apiserver/codec/yaml.h"

#include "base/status_macros.h"
#include "codec/schema_references.h"

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

// Tells if a schema's junctors hold rules.
bool HasNestedRules(const Value& json) {
  std::vector<Value> open;
  const auto add_junctors = [&open](const Value& schema) {
    for (const std::string_view key : {"allOf", "anyOf", "oneOf"}) AddAll(schema[key], open);
    // Most schemas have no junctors, and cost no memory here.
    if (const Value no = schema["not"]; !no.is_null()) open.push_back(no);
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

std::vector<std::string> TextsOf(const Value& list) {
  std::vector<std::string> texts;
  for (const Value& text : list.items()) texts.push_back(TextOf(text));
  return texts;
}

// The types that need no further reading.
std::optional<SchemaType> ScalarType(std::string_view type) {
  if (type == "string") return SchemaType::kString;
  if (type == "boolean") return SchemaType::kBoolean;
  if (type == "number") return SchemaType::kNumber;
  if (type == "integer") return SchemaType::kInteger;
  return std::nullopt;
}

// Says what a schema may say: everything, or only what values must be like, below allOf, anyOf,
// oneOf and not.
enum class Layer : std::uint8_t { kStructure, kValidation };

// The step to the items of a list and to the values of a map. A property may have this name, too.
constexpr std::string_view kItems = "[*]";

// Reads schemas into a pool, from the leaves up.
class OpenApiLoader {
 public:
  // Null references: a $ref is refused, and so is a schema without a type. `depth` is where the
  // schema stands.
  explicit OpenApiLoader(SchemaPool& pool, SchemaReferences* references = nullptr, int depth = 0)
      : pool_(pool), references_(references), depth_(depth) {}

  Result<SchemaPtr> Load(const Value& json) { return Nested(json, {.depth = depth_}); }

  // Leaves out kind and apiVersion, and puts metadata first.
  Result<SchemaPtr> LoadRoot(const Value& json) {
    ASSIGN_OR_RETURN(SchemaParts root, Parts(json, {}));
    if (root.type != SchemaType::kStruct) {
      return Invalid("", "must be an object with properties");
    }
    // A CRD may describe metadata too, but it is the same in all kinds.
    std::erase_if(root.fields, [](const FieldParts& field) {
      return field.name == "apiVersion" || field.name == "kind" || field.name == "metadata";
    });
    FieldParts metadata;
    metadata.name = "metadata";
    ASSIGN_OR_RETURN(metadata.schema, MetadataOf(json["properties"]["metadata"]["properties"]));
    root.fields.insert(root.fields.begin(), std::move(metadata));
    return pool_.Make(root);
  }

 private:
  // Where a schema stands: a step below another place, which lives as long. The path is only
  // written for an error.
  struct Place {
    const Place* above = nullptr;
    std::string_view step = {};
    int depth = 0;
    Layer layer = Layer::kStructure;

    Place Property(std::string_view name) const { return {this, name, depth + 1, layer}; }
    Place Items() const { return {this, kItems, depth + 1, layer}; }
    std::string Path() const {
      std::vector<std::string_view> steps;
      for (const Place* at = this; at != nullptr; at = at->above) steps.push_back(at->step);
      std::string path;
      for (auto next = steps.rbegin(); next != steps.rend(); ++next) {
        const bool apart = !path.empty() && next->data() != kItems.data();
        path.append(apart ? "." : "").append(*next);
      }
      return path;
    }
  };

  // Metadata is the Go type; a CustomResourceDefinition may say more about two names.
  Result<SchemaPtr> MetadataOf(const Value& properties) {
    if (properties.size() == 0) return runtime::ObjectMetaSchema();
    SchemaParts metadata(*runtime::ObjectMetaSchema());
    const Place metadata_place{.above = nullptr, .step = "metadata", .depth = 1};
    for (FieldParts& field : metadata.fields) {
      if (field.name != "name" && field.name != "generateName") continue;
      const Value json = properties[field.name];
      if (!json.is_map()) continue;
      ASSIGN_OR_RETURN(field.schema, Nested(json, metadata_place.Property(field.name)));
    }
    return pool_.Make(metadata);
  }

  Result<SchemaPtr> Nested(const Value& json, const Place& place) {
    ASSIGN_OR_RETURN(const auto target, Referenced(json, place));
    if (target.schema) return target.schema;
    ASSIGN_OR_RETURN(const SchemaParts parts, Parts(json, place));
    return pool_.Make(parts);
  }

  // Finds what a schema refers to, which is shared as it is. Null: it is no reference.
  Result<SchemaReferences::Target> Referenced(const Value& json, const Place& place) {
    if (references_ == nullptr || !json.is_map()) return SchemaReferences::Target{};
    if (place.depth > kSchemaDepthMax) return Invalid(place.Path(), "is nested too deeply");
    auto target = references_->Find(json, place.depth);
    if (target.ok()) return target;
    return Invalid(place.Path(), target.status().message());
  }

  // Reads the schema of a list's items or a map's values, which has a default of its own.
  Result<SchemaPtr> Inner(const Value& json, const Place& place) {
    ASSIGN_OR_RETURN(const auto target, Referenced(json, place));
    if (target.schema) return target.schema;
    ASSIGN_OR_RETURN(SchemaParts parts, Parts(json, place));
    // As in Go, null is no default.
    const Value fallback = json["default"];
    if (!fallback.is_null()) parts.default_value = OwnedValue(fallback);
    return pool_.Make(parts);
  }

  Result<SchemaParts> Parts(const Value& json, const Place& place) {
    if (place.depth > kSchemaDepthMax) return Invalid(place.Path(), "is nested too deeply");
    if (!json.is_map()) return Invalid(place.Path(), "must be an object");
    if (!json["$ref"].is_null()) {
      return Invalid(place.Path(), "$ref is not allowed in a structural schema");
    }
    SchemaParts schema;
    Describe(json["description"].AsString(), schema.description, schema.source_description);
    schema.title = TextOf(json["title"]);
    schema.nullable = json["nullable"].AsBool();
    schema.preserve_unknown_fields = json["x-kubernetes-preserve-unknown-fields"].AsBool();
    schema.embedded_resource = json["x-kubernetes-embedded-resource"].AsBool();
    schema.patch_strategy = TextOf(json["x-kubernetes-patch-strategy"]);
    schema.patch_merge_key = TextOf(json["x-kubernetes-patch-merge-key"]);
    schema.constraints = ConstraintsOf(json);
    if (const Value rules = json["x-kubernetes-validations"]; !rules.is_null()) {
      ASSIGN_OR_RETURN(schema.rules, RulesOf(rules, place.Path()));
    }
    if (place.layer == Layer::kStructure && HasNestedRules(json)) {
      return Invalid(place.Path(),
                     "x-kubernetes-validations within allOf, anyOf, oneOf or not must be empty to "
                     "be structural");
    }
    RETURN_IF_ERROR(LoadJunctors(json, place, schema));
    RETURN_IF_ERROR(place.layer == Layer::kStructure ? LoadType(json, place, schema)
                                                     : LoadValidation(json, place, schema));
    return schema;
  }

  Status LoadJunctors(const Value& json, const Place& place, SchemaParts& schema) {
    const std::pair<std::string_view, std::vector<SchemaPtr>*> junctors[] = {
        {"allOf", &schema.all_of}, {"anyOf", &schema.any_of}, {"oneOf", &schema.one_of}};
    for (const auto& [key, schemas] : junctors) {
      std::size_t i = 0;
      for (const Value& part : json[key].items()) {
        const std::string step = std::string(key) + "[" + std::to_string(i++) + "]";
        ASSIGN_OR_RETURN(schemas->emplace_back(), Nested(part, Validation(place, step)));
      }
    }
    if (const Value part = json["not"]; !part.is_null()) {
      ASSIGN_OR_RETURN(schema.not_of, Nested(part, Validation(place, "not")));
    }
    return {};
  }
  static Place Validation(const Place& place, std::string_view step) {
    Place below = place.Property(step);
    below.layer = Layer::kValidation;
    return below;
  }

  // Reads what a junctor's schema says about values. Types are spelled out only where
  // int-or-string is.
  Status LoadValidation(const Value& json, const Place& place, SchemaParts& schema) {
    schema.type = ScalarType(json["type"].AsString()).value_or(SchemaType::kAny);
    return LoadUntyped(json, place, schema);
  }

  // Reads everything that may stand below a schema without a type.
  Status LoadUntyped(const Value& json, const Place& place, SchemaParts& schema) {
    RETURN_IF_ERROR(LoadProperties(json, place, schema));
    if (json["items"].is_map()) {
      ASSIGN_OR_RETURN(schema.items, Inner(json["items"], place.Items()));
    }
    const Value values = json["additionalProperties"];
    if (values.is_map()) {
      ASSIGN_OR_RETURN(schema.members, Inner(values, place.Items()));
    } else if (values.type() == Value::Type::kBool) {
      schema.members = runtime::AnySchema();
      schema.closed = !values.AsBool();
    }
    return {};
  }

  // Returns whether a schema without a type is that of an object.
  bool IsObject(const Value& json, const SchemaParts& schema) const {
    return schema.embedded_resource || (references_ != nullptr && json["properties"].size() > 0);
  }

  Status LoadType(const Value& json, const Place& place, SchemaParts& schema) {
    const std::string_view type = json["type"].AsString();
    if (json["x-kubernetes-int-or-string"].AsBool()) {
      schema.type = SchemaType::kIntOrString;
    } else if (type == "object" || (type.empty() && IsObject(json, schema))) {
      return LoadObject(json, place, schema);
    } else if (type == "array") {
      return LoadList(json, place, schema);
    } else if (const std::optional<SchemaType> scalar = ScalarType(type)) {
      schema.type = *scalar;
      if (schema.constraints.format == "int32") schema.bits = 32;
      // A custom resource has a text there, whatever it holds.
      if (references_ != nullptr && type == "string" && schema.constraints.format == "byte") {
        schema.type = SchemaType::kBytes;
      }
    } else if (type.empty() && (schema.preserve_unknown_fields || references_ != nullptr)) {
      schema.type = SchemaType::kAny;
      return LoadUntyped(json, place, schema);
    } else {
      return Invalid(place.Path(), type.empty() ? "must have a type"
                                                : "unknown type \"" + std::string(type) + "\"");
    }
    return {};
  }

  Status LoadObject(const Value& json, const Place& place, SchemaParts& schema) {
    schema.atomic = json["x-kubernetes-map-type"].AsString() == "atomic";
    schema.type = SchemaType::kStruct;
    const Value values = json["additionalProperties"];
    const bool any = values.type() == Value::Type::kBool;
    if (json["properties"].size() > 0 || values.is_null()) {
      if (!any && !values.is_null()) {
        return Invalid(place.Path(), "properties and additionalProperties are mutually exclusive");
      }
      // False forbids what properties alone would drop. Kubernetes takes only true beside them.
      if (any && values.AsBool()) schema.members = runtime::AnySchema();
      return LoadProperties(json, place, schema);
    }
    schema.type = SchemaType::kMap;
    schema.required_names = TextsOf(json["required"]);
    if (any) {
      schema.items = runtime::AnySchema();
      schema.closed = !values.AsBool();
      return {};
    }
    ASSIGN_OR_RETURN(schema.items, Inner(values, place.Items()));
    return {};
  }

  Status LoadProperties(const Value& json, const Place& place, SchemaParts& schema) {
    for (const Member& property : json["properties"].members()) {
      FieldParts field;
      field.name = std::string(property.key);
      const Place property_place = place.Property(property.key);
      ASSIGN_OR_RETURN(auto target, Referenced(property.value, property_place));
      if (target.schema) {
        Describe(target.description, field.description, field.source_description);
        field.schema = std::move(target.schema);
      } else {
        ASSIGN_OR_RETURN(SchemaParts parts, Parts(property.value, property_place));
        // Kept at the field, so that types that differ in nothing else are shared.
        field.description = std::exchange(parts.description, "");
        field.source_description = std::exchange(parts.source_description, {});
        field.schema = pool_.Make(parts);
      }
      const Value fallback = property.value["default"];
      if (!fallback.is_null()) field.default_value = OwnedValue(fallback);
      schema.fields.push_back(std::move(field));
    }
    Require(TextsOf(json["required"]), schema);
    return {};
  }

  // Marks the fields that are required; other names are kept apart.
  static void Require(std::vector<std::string> names, SchemaParts& schema) {
    if (names.empty()) return;
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    for (FieldParts& field : schema.fields) {
      const auto found = std::lower_bound(names.begin(), names.end(), field.name);
      field.required = found != names.end() && *found == field.name;
      if (field.required) names.erase(found);
    }
    schema.required_names = std::move(names);
  }

  Status LoadList(const Value& json, const Place& place, SchemaParts& schema) {
    schema.type = SchemaType::kList;
    if (!json["items"].is_map()) return Invalid(place.Path(), "an array must have items");
    ASSIGN_OR_RETURN(schema.items, Inner(json["items"], place.Items()));
    const std::string_view type = json["x-kubernetes-list-type"].AsString();
    if (type == "set") schema.list_type = Schema::ListType::kSet;
    if (type == "map") schema.list_type = Schema::ListType::kMap;
    schema.list_map_keys = TextsOf(json["x-kubernetes-list-map-keys"]);
    if (schema.list_type == Schema::ListType::kMap && schema.list_map_keys.empty()) {
      return Invalid(place.Path(),
                     "x-kubernetes-list-type map must have x-kubernetes-list-map-keys");
    }
    return {};
  }

  // Refers to a description in the source if it is there without escapes; else copies it.
  void Describe(std::string_view text, std::string& copied, SourceText& in_source) {
    in_source = pool_.Find(text);
    if (in_source.size == 0) copied = text;
  }

  SchemaPool& pool_;
  SchemaReferences* const references_;
  const int depth_;
};

Result<Value> ParseText(std::string_view text, runtime::Arena& arena) {
  return ParseYaml(text, arena);
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

Result<SchemaPtr> SchemaFromDocument(Value schema, SchemaPool& pool, SchemaReferences& references,
                                     int depth) {
  return OpenApiLoader(pool, &references, depth).Load(schema);
}

Result<SchemaPtr> RootSchemaFromDocument(Value schema, SchemaPool& pool,
                                         SchemaReferences& references) {
  return OpenApiLoader(pool, &references).LoadRoot(schema);
}

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
