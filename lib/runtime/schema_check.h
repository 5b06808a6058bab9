#pragma once

#include <string>
#include <vector>

#include "apiserver/runtime/kind.h"
#include "apiserver/runtime/schema.h"

namespace apiserver::inline v0::runtime {

// Appends to `problems` the errors that make `schema` unusable, each with its path.
// `where` begins each path: "v1". In a Go type a constraint that constrains nothing is a problem
// too.
void CheckSchema(const SchemaPtr& schema, Semantics semantics, const std::string& where,
                 std::vector<std::string>& problems);

}  // namespace apiserver::inline v0::runtime
