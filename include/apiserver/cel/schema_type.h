#pragma once

#include <optional>
#include <string_view>

#include "apiserver/cel/type.h"
#include "apiserver/runtime/schema_node.h"

// The types that expressions give to data with a schema: SchemaDeclType of
// k8s.io/apiserver/pkg/cel/common/schemas.go.
namespace apiserver::inline v0::cel {

// Returns the schema of a resource as expressions see it: apiVersion, kind, metadata.name and
// metadata.generateName are strings, and metadata has no other members, unless the schema declares
// all four as strings itself. Embedded resources in the schema are completed alike; the schema
// itself is if `resource`. Use the result for the type, for Variable::schema and for
// Value::FromData, so that all agree. Returns the same schema if nothing is missing.
runtime::SchemaPtr WithTypeAndObjectMeta(const runtime::SchemaPtr& schema, bool resource);

// Returns the type of values of the schema. nullopt: expressions do not see such values, as the
// schema says nothing about them (x-kubernetes-preserve-unknown-fields without a type).
//
// Objects with properties become struct types whose fields have escaped names (names.h); `name` is
// the type's, and the types of its parts are named NAME.field, NAME.@idx and NAME.@elem. Messages
// show these names. Kubernetes calls the type of a rule's self "selfType" and a number that cannot
// be guessed, so that no expression can name it. Strings of the formats byte, date, date-time and
// duration have types of their own; what is an integer or a string is dyn.
std::optional<Type> TypeOfSchema(const runtime::Schema& schema, std::string_view name);

}  // namespace apiserver::inline v0::cel
