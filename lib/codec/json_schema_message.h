#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "apiserver/base/status.h"
#include "apiserver/runtime/value.h"

#include "runtime/json_schema_members.h"

// JSONSchemaProps in protobuf, as k8s.io/apiextensions-apiserver's generated.proto has it.
namespace apiserver::inline v0::codec {

using runtime::DocsMembers;
using runtime::IsLeftOut;
using runtime::kSchemaMembers;
using runtime::MemberForm;
using runtime::RuleMembers;
using runtime::SchemaMember;
using runtime::SchemaMembers;
using runtime::SmallMember;

// Numbers in the messages around schemas: entries of maps, JSON, JSONSchemaPropsOrBool, and those
// in which a schema or a list of something stands.
inline constexpr int kKey = 1;
inline constexpr int kEntryValue = 2;
inline constexpr int kRaw = 1;
inline constexpr int kAllows = 1;
inline constexpr int kAllowedSchema = 2;
inline constexpr int kOnlySchema = 1;
inline constexpr int kListed = 2;

// Tells if values of the form contain schemas.
inline bool Nests(MemberForm form) {
  switch (form) {
    case MemberForm::kSchema:
    case MemberForm::kSchemas:
    case MemberForm::kSchemaMap:
    case MemberForm::kSchemaOrFlag:
    case MemberForm::kSchemaOrList:
    case MemberForm::kSchemasOrTexts:
      return true;
    default:
      return false;
  }
}

// Returns the message of a schema whose members are in their order and sorted maps. Does not
// recurse.
std::string WriteJsonSchema(const runtime::Value& schema);
// Returns the schema of a message, its members in order and without zeros. Its texts are borrowed
// from `bytes` or lie in `arena`, which may grow until it has reserved `arena_bytes_max`. Does not
// recurse; a schema may be as deep as one in JSON. kBadRequest, in gogo's words: malformed, or it
// would take more memory.
Result<runtime::Value> ReadJsonSchema(std::string_view bytes, runtime::Arena& arena,
                                      std::size_t arena_bytes_max);

}  // namespace apiserver::inline v0::codec
