#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apiserver/base/status.h"
#include "apiserver/runtime/settle.h"
#include "apiserver/runtime/value.h"

// JSONSchemaProps, which is kept as a Value: its members, and the form in which Go writes it.
namespace apiserver::inline v0::apiextensions {

// The Go type of a member. Members of the types up to kTrueFlag are left out of JSON if they are
// zero; the others are pointers, lists and maps.
enum class MemberForm : std::uint8_t {
  kText,
  kTrueFlag,  // A bool.
  kTextPointer,
  kFlagPointer,
  kNumber,
  kCount,           // An int64.
  kJson,            // Any value.
  kJsons,           // A list of any values.
  kTexts,           // A list of strings.
  kSchema,          // A schema.
  kSchemas,         // A list of schemas.
  kSchemaMap,       // Schemas by name.
  kSchemaOrFlag,    // A schema or a bool.
  kSchemaOrList,    // A schema or a list of schemas.
  kSchemasOrTexts,  // Schemas or lists of strings, by name.
  kDocs,            // ExternalDocumentation.
  kRules,           // A list of rules in CEL.
};

// A member of JSONSchemaProps.
struct SchemaMember {
  std::string_view name;  // In JSON.
  MemberForm form;
  std::string_view go_name;  // In the internal Go type.
  std::string_view go_type;  // As Go prints the type in v1.
};

inline constexpr std::size_t kSchemaMembers = 44;

// Returns all members, in the order in which they are in JSON; the index and one is the number in
// protobuf.
std::span<const SchemaMember, kSchemaMembers> SchemaMembers();

// Returns the index of a member in SchemaMembers(). kSchemaMembers: there is none of this name.
std::size_t FindSchemaMember(std::string_view name);

// Replaces a schema by what decoding into JSONSchemaProps and encoding again make of it: members in
// order, without those that are unknown or zero. Does not recurse. `path` is the schema's, for
// messages; `unknown`, if not null, gets unknown members, 100 at most, but none below items,
// additionalProperties, additionalItems and dependencies, where Go does not look for them.
//
// kBadRequest: a value does not fit, in Go's words: "json: cannot unmarshal number into Go struct
// field JSONSchemaProps.spec.type of type string", "boolean or JSON schema expected".
Status NormalizeJsonSchema(runtime::Value& schema, std::string_view path, runtime::Arena& arena,
                           std::vector<runtime::UnknownMember>* unknown);

// Calls `visit` with a normalized schema and all schemas below it, until it returns false. Does not
// recurse.
template <class Visit>
void ForEachSchema(const runtime::Value& root, Visit visit);

// Adds the schemas directly below a normalized one to `open`.
void AddSchemasBelow(const runtime::Value& schema, std::vector<runtime::Value>& open);

template <class Visit>
void ForEachSchema(const runtime::Value& root, Visit visit) {
  std::vector<runtime::Value> open = {root};
  while (!open.empty()) {
    const runtime::Value schema = open.back();
    open.pop_back();
    if (!schema.is_map()) continue;
    if (!visit(schema)) return;
    AddSchemasBelow(schema, open);
  }
}

}  // namespace apiserver::inline v0::apiextensions
