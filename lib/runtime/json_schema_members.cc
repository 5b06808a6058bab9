#include "runtime/json_schema_members.h"

#include <algorithm>
#include <array>
#include <utility>

namespace apiserver::v0::runtime {
namespace {

using Form = MemberForm;

constexpr std::array<SchemaMember, kSchemaMembers> kJsonSchemaMembers = {{
    {"id", Form::kText, "ID", "string"},
    {"$schema", Form::kText, "Schema", "v1.JSONSchemaURL"},
    {"$ref", Form::kTextPointer, "Ref", "string"},
    {"description", Form::kText, "Description", "string"},
    {"type", Form::kText, "Type", "string"},
    {"format", Form::kText, "Format", "string"},
    {"title", Form::kText, "Title", "string"},
    {"default", Form::kJson, "Default", "v1.JSON"},
    {"maximum", Form::kNumber, "Maximum", "float64"},
    {"exclusiveMaximum", Form::kTrueFlag, "ExclusiveMaximum", "bool"},
    {"minimum", Form::kNumber, "Minimum", "float64"},
    {"exclusiveMinimum", Form::kTrueFlag, "ExclusiveMinimum", "bool"},
    {"maxLength", Form::kCount, "MaxLength", "int64"},
    {"minLength", Form::kCount, "MinLength", "int64"},
    {"pattern", Form::kText, "Pattern", "string"},
    {"maxItems", Form::kCount, "MaxItems", "int64"},
    {"minItems", Form::kCount, "MinItems", "int64"},
    {"uniqueItems", Form::kTrueFlag, "UniqueItems", "bool"},
    {"multipleOf", Form::kNumber, "MultipleOf", "float64"},
    {"enum", Form::kJsons, "Enum", "[]v1.JSON"},
    {"maxProperties", Form::kCount, "MaxProperties", "int64"},
    {"minProperties", Form::kCount, "MinProperties", "int64"},
    {"required", Form::kTexts, "Required", "[]string"},
    {"items", Form::kSchemaOrList, "Items", "v1.JSONSchemaPropsOrArray"},
    {"allOf", Form::kSchemas, "AllOf", "[]v1.JSONSchemaProps"},
    {"oneOf", Form::kSchemas, "OneOf", "[]v1.JSONSchemaProps"},
    {"anyOf", Form::kSchemas, "AnyOf", "[]v1.JSONSchemaProps"},
    {"not", Form::kSchema, "Not", "v1.JSONSchemaProps"},
    {"properties", Form::kSchemaMap, "Properties", "map[string]v1.JSONSchemaProps"},
    {"additionalProperties", Form::kSchemaOrFlag, "AdditionalProperties",
     "v1.JSONSchemaPropsOrBool"},
    {"patternProperties", Form::kSchemaMap, "PatternProperties", "map[string]v1.JSONSchemaProps"},
    {"dependencies", Form::kSchemasOrTexts, "Dependencies", "v1.JSONSchemaDependencies"},
    {"additionalItems", Form::kSchemaOrFlag, "AdditionalItems", "v1.JSONSchemaPropsOrBool"},
    {"definitions", Form::kSchemaMap, "Definitions", "v1.JSONSchemaDefinitions"},
    {"externalDocs", Form::kDocs, "ExternalDocs", "v1.ExternalDocumentation"},
    {"example", Form::kJson, "Example", "v1.JSON"},
    {"nullable", Form::kTrueFlag, "Nullable", "bool"},
    {"x-kubernetes-preserve-unknown-fields", Form::kFlagPointer, "XPreserveUnknownFields", "bool"},
    {"x-kubernetes-embedded-resource", Form::kTrueFlag, "XEmbeddedResource", "bool"},
    {"x-kubernetes-int-or-string", Form::kTrueFlag, "XIntOrString", "bool"},
    {"x-kubernetes-list-map-keys", Form::kTexts, "XListMapKeys", "[]string"},
    {"x-kubernetes-list-type", Form::kTextPointer, "XListType", "string"},
    {"x-kubernetes-map-type", Form::kTextPointer, "XMapType", "string"},
    {"x-kubernetes-validations", Form::kRules, "XValidations", "v1.ValidationRules"},
}};

constexpr SmallMember kJsonRuleMembers[] = {
    {"rule", Form::kText, "string", true},
    {"message", Form::kText, "string"},
    {"messageExpression", Form::kText, "string"},
    {"reason", Form::kTextPointer, "v1.FieldValueErrorReason"},
    {"fieldPath", Form::kText, "string"},
    {"optionalOldSelf", Form::kFlagPointer, "bool"}};
constexpr SmallMember kJsonDocsMembers[] = {{"description", Form::kText, "string"},
                                            {"url", Form::kText, "string"}};

// The names of members, sorted, with their indices.
using SortedSchemaNames = std::array<std::pair<std::string_view, std::size_t>, kSchemaMembers>;
constexpr SortedSchemaNames SortSchemaNames() {
  SortedSchemaNames names;
  for (std::size_t i = 0; i < kSchemaMembers; ++i) names[i] = {kJsonSchemaMembers[i].name, i};
  std::sort(names.begin(), names.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  return names;
}

}  // namespace

std::span<const SchemaMember, kSchemaMembers> SchemaMembers() { return kJsonSchemaMembers; }
std::span<const SmallMember> RuleMembers() { return kJsonRuleMembers; }
std::span<const SmallMember> DocsMembers() { return kJsonDocsMembers; }

bool IsLeftOut(MemberForm form, const Value& value) {
  switch (form) {
    case Form::kText:
      return value.AsString().empty();
    case Form::kTrueFlag:
      return !value.AsBool();
    case Form::kJsons:
    case Form::kTexts:
    case Form::kSchemas:
    case Form::kSchemaMap:
    case Form::kSchemasOrTexts:
    case Form::kRules:
      return value.size() == 0;
    default:
      return false;
  }
}

std::size_t FindSchemaMember(std::string_view name) {
  static constexpr SortedSchemaNames kNames = SortSchemaNames();
  const auto* const found =
      std::lower_bound(kNames.begin(), kNames.end(), name,
                       [](const auto& entry, std::string_view key) { return entry.first < key; });
  return found != kNames.end() && found->first == name ? found->second : kSchemaMembers;
}

}  // namespace apiserver::v0::runtime
