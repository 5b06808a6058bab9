#include "codec/json_schema_members.h"

#include <algorithm>
#include <array>
#include <utility>

namespace apiserver::v0::codec {
namespace {

using runtime::Value;

using enum MemberForm;

constexpr std::array<SchemaMember, kSchemaMembers> kMembers = {{
    {"id", kText, "ID", "string"},
    {"$schema", kText, "Schema", "v1.JSONSchemaURL"},
    {"$ref", kTextPointer, "Ref", "string"},
    {"description", kText, "Description", "string"},
    {"type", kText, "Type", "string"},
    {"format", kText, "Format", "string"},
    {"title", kText, "Title", "string"},
    {"default", kJson, "Default", "v1.JSON"},
    {"maximum", kNumber, "Maximum", "float64"},
    {"exclusiveMaximum", kTrueFlag, "ExclusiveMaximum", "bool"},
    {"minimum", kNumber, "Minimum", "float64"},
    {"exclusiveMinimum", kTrueFlag, "ExclusiveMinimum", "bool"},
    {"maxLength", kCount, "MaxLength", "int64"},
    {"minLength", kCount, "MinLength", "int64"},
    {"pattern", kText, "Pattern", "string"},
    {"maxItems", kCount, "MaxItems", "int64"},
    {"minItems", kCount, "MinItems", "int64"},
    {"uniqueItems", kTrueFlag, "UniqueItems", "bool"},
    {"multipleOf", kNumber, "MultipleOf", "float64"},
    {"enum", kJsons, "Enum", "[]v1.JSON"},
    {"maxProperties", kCount, "MaxProperties", "int64"},
    {"minProperties", kCount, "MinProperties", "int64"},
    {"required", kTexts, "Required", "[]string"},
    {"items", kSchemaOrList, "Items", "v1.JSONSchemaPropsOrArray"},
    {"allOf", kSchemas, "AllOf", "[]v1.JSONSchemaProps"},
    {"oneOf", kSchemas, "OneOf", "[]v1.JSONSchemaProps"},
    {"anyOf", kSchemas, "AnyOf", "[]v1.JSONSchemaProps"},
    {"not", kSchema, "Not", "v1.JSONSchemaProps"},
    {"properties", kSchemaMap, "Properties", "map[string]v1.JSONSchemaProps"},
    {"additionalProperties", kSchemaOrFlag, "AdditionalProperties", "v1.JSONSchemaPropsOrBool"},
    {"patternProperties", kSchemaMap, "PatternProperties", "map[string]v1.JSONSchemaProps"},
    {"dependencies", kSchemasOrTexts, "Dependencies", "v1.JSONSchemaDependencies"},
    {"additionalItems", kSchemaOrFlag, "AdditionalItems", "v1.JSONSchemaPropsOrBool"},
    {"definitions", kSchemaMap, "Definitions", "v1.JSONSchemaDefinitions"},
    {"externalDocs", kDocs, "ExternalDocs", "v1.ExternalDocumentation"},
    {"example", kJson, "Example", "v1.JSON"},
    {"nullable", kTrueFlag, "Nullable", "bool"},
    {"x-kubernetes-preserve-unknown-fields", kFlagPointer, "XPreserveUnknownFields", "bool"},
    {"x-kubernetes-embedded-resource", kTrueFlag, "XEmbeddedResource", "bool"},
    {"x-kubernetes-int-or-string", kTrueFlag, "XIntOrString", "bool"},
    {"x-kubernetes-list-map-keys", kTexts, "XListMapKeys", "[]string"},
    {"x-kubernetes-list-type", kTextPointer, "XListType", "string"},
    {"x-kubernetes-map-type", kTextPointer, "XMapType", "string"},
    {"x-kubernetes-validations", kRules, "XValidations", "v1.ValidationRules"},
}};

constexpr SmallMember kRuleMembers[] = {
    {"rule", kText, "string", true},        {"message", kText, "string"},
    {"messageExpression", kText, "string"}, {"reason", kTextPointer, "v1.FieldValueErrorReason"},
    {"fieldPath", kText, "string"},         {"optionalOldSelf", kFlagPointer, "bool"}};
constexpr SmallMember kDocsMembers[] = {{"description", kText, "string"}, {"url", kText, "string"}};

// The names of members, sorted, with their indices.
using SortedNames = std::array<std::pair<std::string_view, std::size_t>, kSchemaMembers>;
constexpr SortedNames SortNames() {
  SortedNames names;
  for (std::size_t i = 0; i < kSchemaMembers; ++i) names[i] = {kMembers[i].name, i};
  std::sort(names.begin(), names.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  return names;
}

}  // namespace

std::span<const SchemaMember, kSchemaMembers> SchemaMembers() { return kMembers; }
std::span<const SmallMember> RuleMembers() { return kRuleMembers; }
std::span<const SmallMember> DocsMembers() { return kDocsMembers; }

bool IsLeftOut(MemberForm form, const Value& value) {
  switch (form) {
    case kText:
      return value.AsString().empty();
    case kTrueFlag:
      return !value.AsBool();
    case kJsons:
    case kTexts:
    case kSchemas:
    case kSchemaMap:
    case kSchemasOrTexts:
    case kRules:
      return value.size() == 0;
    default:
      return false;
  }
}

std::size_t FindSchemaMember(std::string_view name) {
  static constexpr SortedNames kNames = SortNames();
  const auto* const found =
      std::lower_bound(kNames.begin(), kNames.end(), name,
                       [](const auto& entry, std::string_view key) { return entry.first < key; });
  return found != kNames.end() && found->first == name ? found->second : kSchemaMembers;
}

}  // namespace apiserver::v0::codec
