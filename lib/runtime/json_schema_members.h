#pragma once  // Library-internal: other rooms include this header.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "apiserver/runtime/value.h"

// The members of apiextensions' JSONSchemaProps, which contains itself and so has no Schema.
namespace apiserver::inline v0::runtime {

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

// A member of a rule or of ExternalDocumentation.
struct SmallMember {
  std::string_view name;
  MemberForm form;
  std::string_view go_type;
  bool always = false;  // It is written even if it is zero.
};

inline constexpr std::size_t kSchemaMembers = 44;

// Returns all members, in the order in which they are in JSON; the index and one is the number in
// protobuf.
std::span<const SchemaMember, kSchemaMembers> SchemaMembers();

// Return the members of a rule and of ExternalDocumentation in the same order.
std::span<const SmallMember> RuleMembers();
std::span<const SmallMember> DocsMembers();

// Tells if Go reads the value into a member of the form; what containers hold is looked at
// elsewhere.
bool FitsForm(MemberForm form, const Value& value);

// Tells if JSON leaves out a value that fits the form.
bool IsLeftOut(MemberForm form, const Value& value);

// Returns the index of a member in SchemaMembers(). kSchemaMembers: there is none of this name.
std::size_t FindSchemaMember(std::string_view name);

}  // namespace apiserver::inline v0::runtime
