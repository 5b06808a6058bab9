#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/base/status.h"
#include "apiserver/runtime/settle.h"
#include "apiserver/runtime/value.h"
#include "codec/json_schema_members.h"

// JSONSchemaProps, which is kept as a Value: the form in which Go writes it.
namespace apiserver::inline v0::apiextensions {

using codec::DocsMembers;
using codec::FindSchemaMember;
using codec::IsLeftOut;
using codec::kSchemaMembers;
using codec::MemberForm;
using codec::RuleMembers;
using codec::SchemaMember;
using codec::SchemaMembers;
using codec::SmallMember;

// Replaces a schema by what decoding into JSONSchemaProps and encoding again make of it: members in
// order, without those that are unknown or zero. Does not recurse. `path` is the schema's, for
// messages; `unknown`, if not null, gets unknown members, 100 at most, but none below items,
// additionalProperties, additionalItems and dependencies, where Go does not look for them.
//
// kBadRequest: a value does not fit, in Go's words: "json: cannot unmarshal number into Go struct
// field JSONSchemaProps.spec.type of type string", "boolean or JSON schema expected".
Status NormalizeJsonSchema(runtime::Value& schema, std::string_view path, runtime::Arena& arena,
                           std::vector<runtime::UnknownMember>* unknown);

// Returns a schema, normalized if it fits, which validation tells.
runtime::Value NormalizedSchema(const runtime::Value& schema, std::string_view path,
                                runtime::Arena& arena);

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
