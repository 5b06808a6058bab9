#pragma once

#include <string>

#include "apiserver/base/field_path.h"
#include "apiserver/runtime/value.h"

// Structural schemas: pkg/apiserver/schema of k8s.io/apiextensions-apiserver. Schemas are
// normalized, and nested at most kSchemaDepthMax deep.
namespace apiserver::inline v0::apiextensions {

// Returns the reason why a schema cannot be looked at as a structural one: it has a member that no
// such schema has. Empty: it can.
std::string WhyNotStructural(const runtime::Value& schema);

// Checks if a schema is structural. Errors are sorted by their text.
field::ErrorList ValidateStructural(const runtime::Value& schema, const field::Path& path);

}  // namespace apiserver::inline v0::apiextensions
