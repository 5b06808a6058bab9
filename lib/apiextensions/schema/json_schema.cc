#include "apiextensions/schema/json_schema.h"

namespace apiserver::v0::apiextensions {
namespace {

using runtime::Member;
using runtime::Value;

using enum MemberForm;

}  // namespace

void AddSchemasBelow(const Value& schema, std::vector<Value>& open) {
  for (const Member& member : schema.members()) {
    const std::size_t at = FindSchemaMember(member.key);
    if (at == kSchemaMembers) continue;
    switch (SchemaMembers()[at].form) {
      case kSchema:
      case kSchemaOrFlag:
        open.push_back(member.value);
        break;
      case kSchemas:
      case kSchemaOrList:
        if (member.value.is_map()) open.push_back(member.value);
        open.insert(open.end(), member.value.items().begin(), member.value.items().end());
        break;
      case kSchemaMap:
      case kSchemasOrTexts:
        for (const Member& named : member.value.members()) open.push_back(named.value);
        break;
      default:
        break;
    }
  }
}

}  // namespace apiserver::v0::apiextensions
