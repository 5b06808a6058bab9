#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "apiextensions/validation/demands.h"
#include "apiserver/base/field_path.h"
#include "apiserver/runtime/value.h"

// Judges what schemas may say: ValidateCustomResourceDefinitionOpenAPISchema without the
// compilation of rules. Schemas are normalized, and nested at most kSchemaDepthMax deep.
namespace apiserver::inline v0::apiextensions {

// The deepest nesting of schemas. Kubernetes has no limit but that of JSON, 10,000 levels.
inline constexpr int kSchemaDepthMax = 200;
// Tells if schemas are nested deeper than that. Does not recurse.
bool IsTooDeep(const runtime::Value& schema);

// The findings about a schema.
struct SchemaFindings {
  field::ErrorList errors;
  // The schemas with rules that have an error, or have one below; each by its members. Their rules
  // are not compiled.
  std::vector<const runtime::Member*> faulty;
};

// Checks a schema and all schemas below it.
SchemaFindings CheckSchemaRules(const runtime::Value& schema, const Demands& demands,
                                const field::Path& path);
// Checks what the root of a schema may say with the subresource status, and that it is not
// nullable.
void CheckSchemaRoot(const runtime::Value& schema, bool has_status, const field::Path& path,
                     field::ErrorList& errors);

// Tells if a type is one that schemas may have.
bool IsOpenApiType(std::string_view type);
// Tells if a list is a set whose items are no atoms.
bool IsNonAtomicSet(const runtime::Value& schema);
// Tells if the items of a set or map are faulty: they or their keys may be null or missing.
bool HasUnsoundListKeys(const runtime::Value& schema);

// Returns the entry of a sorted map, in logarithmic time. Null: there is none.
const runtime::Value* FindSorted(const runtime::Value& map, std::string_view key);

}  // namespace apiserver::inline v0::apiextensions
