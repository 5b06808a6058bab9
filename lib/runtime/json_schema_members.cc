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

// The names of members with their indices, sorted by length: few names are equally long.
struct NamesByLength {
  static constexpr std::size_t kLongest = 36;
  std::array<std::pair<std::string_view, std::size_t>, kSchemaMembers> names;
  // Where the names of each length begin.
  std::array<std::size_t, kLongest + 2> begins{};
};
constexpr NamesByLength SortSchemaNames() {
  NamesByLength sorted;
  for (std::size_t i = 0; i < kSchemaMembers; ++i)
    sorted.names[i] = {kJsonSchemaMembers[i].name, i};
  std::sort(sorted.names.begin(), sorted.names.end(), [](const auto& a, const auto& b) {
    return a.first.size() != b.first.size() ? a.first.size() < b.first.size() : a.first < b.first;
  });
  std::size_t next = 0;
  for (std::size_t length = 0; length < sorted.begins.size(); ++length) {
    while (next < kSchemaMembers && sorted.names[next].first.size() < length) ++next;
    sorted.begins[length] = next;
  }
  return sorted;
}

}  // namespace

std::span<const SchemaMember, kSchemaMembers> SchemaMembers() { return kJsonSchemaMembers; }
std::span<const SmallMember> RuleMembers() { return kJsonRuleMembers; }
std::span<const SmallMember> DocsMembers() { return kJsonDocsMembers; }

bool FitsForm(MemberForm form, const Value& value) {
  switch (form) {
    case Form::kText:
    case Form::kTextPointer:
      return value.is_string();
    case Form::kTrueFlag:
    case Form::kFlagPointer:
      return value.type() == Value::Type::kBool;
    case Form::kNumber:
      return value.is_number();
    case Form::kCount:
      return value.type() == Value::Type::kInt;
    case Form::kJson:
      return true;
    case Form::kSchema:
    case Form::kSchemaMap:
    case Form::kSchemasOrTexts:
    case Form::kDocs:
      return value.is_map();
    case Form::kSchemaOrFlag:
      return value.is_map() || value.type() == Value::Type::kBool;
    case Form::kSchemaOrList:
      return true;
    default:
      return value.is_list();
  }
}

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
  static constexpr NamesByLength kNames = SortSchemaNames();
  static_assert(kNames.begins.back() == kSchemaMembers);
  if (name.size() > NamesByLength::kLongest) return kSchemaMembers;
  for (std::size_t at = kNames.begins[name.size()]; at < kNames.begins[name.size() + 1]; ++at) {
    if (kNames.names[at].first == name) return kNames.names[at].second;
  }
  return kSchemaMembers;
}

}  // namespace apiserver::v0::runtime
