#pragma once

#include "apiextensions/validation/loaded_schema.h"
#include "apiserver/base/context.h"
#include "apiserver/base/field_path.h"
#include "apiserver/runtime/value.h"

// Default values in schemas: pkg/apiserver/schema/defaulting of k8s.io/apiextensions-apiserver.
// Schemas are normalized and structural.
namespace apiserver::inline v0::apiextensions {

// Tells if a schema has default values.
bool HasDefaults(const runtime::Value& schema);

// Tells if a schema has a default value with members that it does not know.
bool HasUnprunedDefaults(const runtime::Value& schema);

// Checks that default values are valid by the schemas that they stand in. `pruned`: they may have
// no unknown members. Rules in CEL share one budget.
field::ErrorList ValidateDefaults(const Context& ctx, LoadedSchema& schema, bool pruned,
                                  const field::Path& path);

}  // namespace apiserver::inline v0::apiextensions
