#include "patch/apply/json_schema_type.h"

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "runtime/json_schema_members.h"

namespace apiserver::v0::patch::apply {
namespace {

using runtime::MemberForm;
using runtime::Value;
using Scalar = Type::Scalar;

using enum MemberForm;

// The types that a schema consists of.
class JsonSchemaTypes {
 public:
  JsonSchemaTypes() {
    text_.scalar = Scalar::kString;
    flag_.scalar = Scalar::kBoolean;
    number_.scalar = Scalar::kNumeric;
    SetList(texts_, text_);
    SetList(values_, TypeGraph::Deduced());
    SetList(schemas_, schema_);
    SetMap(schemas_by_name_, schema_);
    SetMap(values_by_name_, TypeGraph::Deduced());
    SetStruct(docs_, runtime::DocsMembers());
    SetStruct(rule_, runtime::RuleMembers());
    SetList(rules_, rule_);
    rules_.list_atomic = false;
    rules_.keys.push_back({"rule", &no_rule_});
    rules_.keys_quoted = R"(["rule"])";
    SetStruct(schema_, runtime::SchemaMembers());
  }
  JsonSchemaTypes(const JsonSchemaTypes&) = delete;
  JsonSchemaTypes& operator=(const JsonSchemaTypes&) = delete;

  const Type& schema() const { return schema_; }

 private:
  static void SetList(Type& type, const Type& items) {
    type.list = true;
    type.items = &items;
    type.has_atomic = true;
  }
  static void SetMap(Type& type, const Type& values) {
    type.map = true;
    type.values = &values;
    type.untyped_deduced_map = &values == &TypeGraph::Deduced();
    type.has_atomic = true;
  }
  template <class Member, std::size_t extent>
  void SetStruct(Type& type, std::span<const Member, extent> members) {
    std::vector<std::pair<std::string_view, const Type*>> fields;
    for (const Member& member : members) fields.emplace_back(member.name, &TypeOf(member.form));
    type.map = true;
    type.fields.Set(std::move(fields));
    type.has_atomic = true;
  }

  const Type& TypeOf(MemberForm form) const {
    switch (form) {
      case kText:
      case kTextPointer:
        return text_;
      case kTrueFlag:
      case kFlagPointer:
        return flag_;
      case kNumber:
      case kCount:
        return number_;
      case kTexts:
        return texts_;
      case kJsons:
        return values_;
      case kSchema:
        return schema_;
      case kSchemas:
        return schemas_;
      case kSchemaMap:
        return schemas_by_name_;
      case kSchemasOrTexts:
        return values_by_name_;
      case kDocs:
        return docs_;
      case kRules:
        return rules_;
      default:
        return TypeGraph::Deduced();
    }
  }

  const Value no_rule_ = Value::String("");
  Type text_;
  Type flag_;
  Type number_;
  Type texts_;
  Type values_;
  Type schemas_;
  Type schemas_by_name_;
  Type values_by_name_;
  Type docs_;
  Type rule_;
  Type rules_;
  Type schema_;
};

}  // namespace

const Type& JsonSchemaType() {
  static const JsonSchemaTypes types;
  return types.schema();
}

}  // namespace apiserver::v0::patch::apply
