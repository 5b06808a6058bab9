// Follows NewStructural, Unfold, ToStructuralOpenAPIV2 and ToKubeOpenAPI of apiextensions-apiserver
// in one walk over the JSON of the definition.

#include "apiextensions/documents/published_schema.h"

#include <algorithm>
#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "apiserver/codec/json.h"

namespace apiserver::v0::apiextensions {

namespace {

using runtime::Value;

constexpr std::string_view kEitherType = R"("anyOf":[{"type":"integer"},{"type":"string"}])";
constexpr std::string_view kMetadataText =
    "Standard object's metadata. More info: https://git.k8s.io/community/contributors/devel/"
    "sig-architecture/api-conventions.md#metadata";
constexpr std::string_view kEmbeddedApiVersionText =
    "apiVersion defines the versioned schema of this representation of an object. More info: "
    "https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#resources";
constexpr std::string_view kEmbeddedKindText =
    "kind is a string value representing the type of this object. In CamelCase. More info: "
    "https://git.k8s.io/community/contributors/devel/sig-architecture/"
    "api-conventions.md#types-kinds";

// Schemas that are deeper than this say nothing in v2, whose readers recurse. Real ones have at
// most a third of it.
constexpr std::uint32_t kV2DepthMax = 100;

// The structure of an object, or a junctor (allOf, anyOf, oneOf, not), which only validates.
enum class Within : std::uint8_t { kStructure, kJunctor };

// A part of the text that is still to be written.
struct Pending {
  enum class Type : std::uint8_t { kText, kMember, kItem };
  Type type = Type::kText;
  Within within = Within::kStructure;
  std::uint32_t depth = 0;
  std::string_view text = {};  // kText: as it is; kMember: the name.
  Value schema = {};
};

// A schema with what v2 takes away from it.
struct Shape {
  std::string_view type = {};
  Value items = {};
  Value properties = {};
  bool nullable = false;
  bool embedded = false;  // It gets the properties of an object.
};

void Separate(std::string& out) {
  if (out.back() != '{' && out.back() != '[') out += ',';
}

void AppendName(std::string_view name, std::string& out) {
  Separate(out);
  codec::AppendJsonString(name, out);
  out += ':';
}

void AppendText(std::string_view name, std::string_view text, std::string& out) {
  if (text.empty()) return;
  AppendName(name, out);
  codec::AppendJsonString(text, out);
}

// Values of any form: default, enum.
void AppendAny(std::string_view name, Value value, std::string& out) {
  if (value.is_null()) return;
  AppendName(name, out);
  codec::AppendJson(value, out);
}

void AppendFlag(std::string_view name, bool value, std::string& out) {
  if (!value) return;
  AppendName(name, out);
  out += "true";
}

bool SaysNothing(Value value) {
  return value.is_null() || (value.type() == Value::Type::kBool && !value.AsBool()) ||
         (value.is_string() && value.size() == 0);
}

// True for {"type": `type`} alone.
bool IsOnlyType(Value schema, std::string_view type) {
  return schema["type"].AsString() == type &&
         std::ranges::all_of(schema.members(), [](const runtime::Member& member) {
           return member.key == "type" || SaysNothing(member.value);
         });
}

bool IsIntOrString(Value any_of) {
  return any_of.items().size() == 2 && IsOnlyType(any_of.at(0), "integer") &&
         IsOnlyType(any_of.at(1), "string");
}

class SchemaWriter {
 public:
  SchemaWriter(openapi::Format form, std::string& out) : form_(form), out_(out) {}

  void Run(Value root, const SchemaEnds& ends) {
    Open(root, Within::kStructure, &ends);
    while (!open_.empty()) {
      const Pending part = open_.back();
      open_.pop_back();
      if (part.type == Pending::Type::kText) {
        if (part.text.front() == '"') Separate(out_);
        out_ += part.text;
        continue;
      }
      part.type == Pending::Type::kMember ? AppendName(part.text, out_) : Separate(out_);
      depth_ = part.depth;
      if (v2() && depth_ > kV2DepthMax) {
        out_ += "{}";
      } else {
        Open(part.schema, part.within, nullptr);
      }
    }
  }

 private:
  bool v2() const { return form_ == openapi::Format::kV2; }

  // As ToStructuralOpenAPIV2 for v2, whose readers in kubectl cannot cope with more.
  Shape ShapeOf(Value schema, Within within) const {
    Shape shape{.type = schema["type"].AsString(),
                .items = schema["items"],
                .properties = schema["properties"],
                .nullable = schema["nullable"].AsBool()};
    const bool preserves = schema["x-kubernetes-preserve-unknown-fields"].AsBool();
    shape.embedded = within == Within::kStructure &&
                     schema["x-kubernetes-embedded-resource"].AsBool() && !(v2() && preserves);
    if (!v2()) return shape;
    if (shape.nullable) shape.type = "";
    if (shape.nullable || preserves) shape.items = shape.properties = Value();
    if (shape.items.is_null() && shape.type == "array") shape.type = "";
    if (preserves && shape.type == "object") shape.type = "";
    shape.nullable = false;
    return shape;
  }

  // Writes all of a schema but what is below it, which is left for later. `ends`: it is the root.
  void Open(Value schema, Within within, const SchemaEnds* ends) {
    const Shape shape = ShapeOf(schema, within);
    out_ += '{';
    AppendGenerics(schema, shape);
    AppendLimits(schema);
    AppendRequired(schema, shape);
    AppendExtensions(schema);
    std::vector<Pending> parts;
    if (!shape.items.is_null()) parts.push_back(Member("items", shape.items, within));
    AddProperties(shape, within, ends, parts);
    if (within == Within::kStructure)
      AddAdditionalProperties(schema["additionalProperties"], parts);
    if (!v2()) AddJunctors(schema, within, parts);
    if (ends && !ends->extensions.empty()) parts.push_back(Text(ends->extensions));
    parts.push_back(Text("}"));
    for (Pending& part : parts) part.depth = depth_ + 1;
    open_.insert(open_.end(), parts.rbegin(), parts.rend());
  }

  // Without externalDocs and example, as in Kubernetes 1.35; later versions publish them.
  void AppendGenerics(Value schema, const Shape& shape) {
    AppendText("description", schema["description"].AsString(), out_);
    AppendText("type", shape.type, out_);
    AppendText("title", schema["title"].AsString(), out_);
    AppendFlag("nullable", shape.nullable, out_);
    if (!v2()) AppendAny("default", schema["default"], out_);
  }

  void AppendLimits(Value schema) {
    for (const char* name : {"format", "pattern"}) {
      AppendText(name, schema[name].AsString(), out_);
    }
    for (const char* name : {"maximum", "minimum", "multipleOf"}) {
      if (const Value limit = schema[name]; limit.is_number()) {
        AppendAny(name, Value::Double(limit.AsDouble()), out_);
      }
    }
    for (const char* name : {"exclusiveMaximum", "exclusiveMinimum", "uniqueItems"}) {
      AppendFlag(name, schema[name].AsBool(), out_);
    }
    for (const char* name :
         {"maxLength", "minLength", "maxItems", "minItems", "maxProperties", "minProperties"}) {
      if (const Value limit = schema[name]; limit.is_number()) {
        AppendAny(name, Value::Int(limit.AsInt()), out_);
      }
    }
    if (const Value values = schema["enum"]; values.size() > 0) AppendAny("enum", values, out_);
  }

  // v2 demands no property that may be null: kubectl would refuse the null.
  std::vector<std::string_view> RequiredOf(Value schema, const Shape& shape) const {
    std::vector<std::string_view> names;
    if (v2() && schema["additionalProperties"]["nullable"].AsBool()) return names;
    std::set<std::string_view> nullable;
    for (const runtime::Member& each : shape.properties.members()) {
      if (v2() && each.value["nullable"].AsBool()) nullable.insert(each.key);
    }
    for (const Value& each : schema["required"].items()) {
      if (!nullable.contains(each.AsString())) names.push_back(each.AsString());
    }
    return names;
  }

  void AppendRequired(Value schema, const Shape& shape) {
    std::vector<std::string_view> names = RequiredOf(schema, shape);
    if (shape.embedded) {
      for (const std::string_view name : {"kind", "apiVersion"}) {
        if (std::ranges::find(names, name) == names.end()) names.push_back(name);
      }
    }
    if (names.empty()) return;
    AppendName("required", out_);
    out_ += '[';
    for (const std::string_view name : names) {
      Separate(out_);
      codec::AppendJsonString(name, out_);
    }
    out_ += ']';
  }

  void AppendExtensions(Value schema) {
    for (const char* name : {"x-kubernetes-preserve-unknown-fields",
                             "x-kubernetes-embedded-resource", "x-kubernetes-int-or-string"}) {
      AppendFlag(name, schema[name].AsBool(), out_);
    }
    for (const char* name :
         {"x-kubernetes-list-map-keys", "x-kubernetes-list-type", "x-kubernetes-map-type"}) {
      const Value value = schema[name];
      if (value.size() > 0) AppendAny(name, value, out_);
    }
    const Value rules = schema["x-kubernetes-validations"];
    if (rules.size() == 0) return;
    AppendName("x-kubernetes-validations", out_);
    out_ += '[';
    for (const Value& rule : rules.items()) AppendRule(rule);
    out_ += ']';
  }

  void AppendRule(Value rule) {
    Separate(out_);
    out_ += "{\"rule\":";
    codec::AppendJsonString(rule["rule"].AsString(), out_);
    for (const char* name : {"message", "messageExpression", "reason", "fieldPath"}) {
      AppendText(name, rule[name].AsString(), out_);
    }
    AppendAny("optionalOldSelf", rule["optionalOldSelf"], out_);
    out_ += '}';
  }

  static Pending Text(std::string_view text) { return {.text = text}; }
  static Pending Member(std::string_view name, Value schema, Within within) {
    return {.type = Pending::Type::kMember, .within = within, .text = name, .schema = schema};
  }

  void AddProperties(const Shape& shape, Within within, const SchemaEnds* ends,
                     std::vector<Pending>& parts) {
    std::string_view more = ends ? std::string_view(ends->properties) : std::string_view();
    if (shape.embedded) more = EmbeddedProperties();
    if (shape.properties.size() == 0 && more.empty()) return;
    parts.push_back(Text("\"properties\":{"));
    for (const runtime::Member& each : shape.properties.members()) {
      const bool replaced = !more.empty() && (each.key == "apiVersion" || each.key == "kind" ||
                                              each.key == "metadata");
      if (!replaced) parts.push_back(Member(each.key, each.value, within));
    }
    if (!more.empty()) parts.push_back(Text(more));
    parts.push_back(Text("}"));
  }

  void AddAdditionalProperties(Value additional, std::vector<Pending>& parts) {
    if (additional.is_null()) return;
    if (additional.is_map()) {
      parts.push_back(Member("additionalProperties", additional, Within::kStructure));
    } else {
      parts.push_back(Text(additional.AsBool() ? "\"additionalProperties\":true"
                                               : "\"additionalProperties\":false"));
    }
  }

  // As Unfold: the two types of int-or-string become explicit.
  void AddJunctors(Value schema, Within within, std::vector<Pending>& parts) {
    const Value any_of = schema["anyOf"];
    const Value all_of = schema["allOf"];
    const bool unfold = within == Within::kStructure &&
                        schema["x-kubernetes-int-or-string"].AsBool() && !IsIntOrString(any_of) &&
                        !IsIntOrString(all_of.at(0)["anyOf"]);
    const bool first = unfold && any_of.size() > 0;
    if (unfold && !first) parts.push_back(Text(kEitherType));
    if (first) {
      parts.push_back(Text(R"("allOf":[{"anyOf":[{"type":"integer"},{"type":"string"}]})"));
      AddItems(all_of, parts);
    } else if (all_of.size() > 0) {
      parts.push_back(Text("\"allOf\":["));
      AddItems(all_of, parts);
    }
    for (const auto& [open, branches] :
         {std::pair("\"oneOf\":[", schema["oneOf"]), std::pair("\"anyOf\":[", any_of)}) {
      if (branches.size() == 0) continue;
      parts.push_back(Text(open));
      AddItems(branches, parts);
    }
    if (const Value branch = schema["not"]; branch.is_map()) {
      parts.push_back(Member("not", branch, Within::kJunctor));
    }
  }

  static void AddItems(Value branches, std::vector<Pending>& parts) {
    for (const Value& branch : branches.items()) {
      parts.push_back({.type = Pending::Type::kItem, .within = Within::kJunctor, .schema = branch});
    }
    parts.push_back(Text("]"));
  }

  std::string_view EmbeddedProperties() {
    if (embedded_.empty()) {
      embedded_ = StringProperty("apiVersion", kEmbeddedApiVersionText) + "," +
                  StringProperty("kind", kEmbeddedKindText) + "," +
                  MetadataProperty("ObjectMeta", kMetadataText, form_);
    }
    return embedded_;
  }

  const openapi::Format form_;
  std::string& out_;
  std::vector<Pending> open_;
  std::uint32_t depth_ = 0;
  std::string embedded_;
};

}  // namespace

std::string StringProperty(std::string_view name, std::string_view description) {
  std::string property;
  codec::AppendJsonString(name, property);
  property += ":{\"description\":";
  codec::AppendJsonString(description, property);
  return property + ",\"type\":\"string\"}";
}

// OpenAPI v3.0 ignores what stands beside a $ref, so there it is wrapped.
std::string MetadataProperty(std::string_view target, std::string_view description,
                             openapi::Format form) {
  std::string ref = "\"$ref\":\"";
  ref.append(RefPrefix(form)).append("io.k8s.apimachinery.pkg.apis.meta.v1.").append(target);
  ref += '"';
  if (form == openapi::Format::kV3) ref = "\"allOf\":[{" + ref + "}]";
  std::string property = "\"metadata\":{\"description\":";
  codec::AppendJsonString(description, property);
  return property + "," + ref + "}";
}

void AppendPublishedSchema(Value schema, openapi::Format form, const SchemaEnds& ends,
                           std::string& out) {
  SchemaWriter(form, out).Run(schema, ends);
}

}  // namespace apiserver::v0::apiextensions
