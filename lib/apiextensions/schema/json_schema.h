#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/runtime/value.h"
#include "runtime/json_schema.h"
#include "runtime/json_schema_members.h"

// JSONSchemaProps, which is kept as a Value: the form in which Go writes it.
namespace apiserver::inline v0::apiextensions {

using runtime::DocsMembers;
using runtime::FindSchemaMember;
using runtime::IsLeftOut;
using runtime::kSchemaMembers;
using runtime::MemberForm;
using runtime::NormalizeJsonSchema;
using runtime::RuleMembers;
using runtime::SchemaMember;
using runtime::SchemaMembers;
using runtime::SmallMember;

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
