#pragma once

#include <string_view>

#include "apiserver/base/status.h"
#include "apiserver/runtime/schema_node.h"

// Follows paths through a Schema, to find out whether an object can have a field: stores check the
// paths that a kind declares, and a View (view.h) those that code reads.
namespace apiserver::inline v0::runtime {

// Returns the schema of the member `name` of a map or struct, valid as long as `schema`. Null:
// `schema` allows anything there. kInvalid: no value of `schema` has such a member; the message
// says what it has: `there is no field "sise" (there are color, size)`.
Result<const Schema*> MemberSchema(const Schema& schema, std::string_view name);

// Returns the schema of a list's items, in the same way.
Result<const Schema*> ItemSchema(const Schema& schema);

// Returns the schema at a path of member names, "spec.size" or ".spec.size", in the same way. The
// message begins with the path: `spec.sise: there is no field "sise" …`.
Result<const Schema*> SchemaAt(const Schema& schema, std::string_view path);

}  // namespace apiserver::inline v0::runtime
