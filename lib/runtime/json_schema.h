#pragma once  // Library-internal: other rooms include this header.

#include <string_view>
#include <vector>

#include "apiserver/base/status.h"
#include "apiserver/runtime/schema.h"
#include "apiserver/runtime/settle.h"
#include "apiserver/runtime/value.h"

// Values of the one Go type that contains itself, so that no Schema can say it: apiextensions'
// JSONSchemaProps.
namespace apiserver::inline v0::runtime {

// Returns true if the schema stands for JSONSchemaProps: it is the one type of any value that has a
// protobuf message.
inline bool IsJsonSchema(const Schema& schema) {
  return schema.type == SchemaType::kAny && schema.proto_message;
}

// Replaces a schema by what decoding into JSONSchemaProps and encoding again make of it: members in
// order, without those that are unknown or zero. Does not recurse. `path` is the schema's, for
// messages.
//
// kBadRequest: a value does not fit, in Go's words: "json: cannot unmarshal number into Go struct
// field JSONSchemaProps.spec.type of type string", "boolean or JSON schema expected".
Status NormalizeJsonSchema(Value& schema, std::string_view path, Arena& arena);

// Adds the members of a schema, and of all that it consists of, which JSONSchemaProps does not
// have: in document order, until `unknown` has 100. Go does not look for them below items,
// additionalProperties, additionalItems and dependencies. `path` is the schema's. Does not recurse.
void FindUnknownInJsonSchema(const Value& schema, std::string_view path,
                             std::vector<UnknownMember>& unknown);

}  // namespace apiserver::inline v0::runtime
