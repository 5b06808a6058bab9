#pragma once  // Library-internal: other rooms include this header.

#include <string>
#include <string_view>

#include "apiserver/runtime/schema.h"
#include "apiserver/runtime/value.h"

// What Go's encoding/json does with one value that is no struct, map or list, as it decodes it into
// a Go type and encodes it again.
namespace apiserver::inline v0::runtime {

bool IsContainer(SchemaType type);
// The zero value of the Go type, as JSON: 0, "", null, "0s"; an empty map for a struct.
Value ZeroOf(const Schema& schema);
// Whether omitempty leaves out a normalized `value` of this type.
bool IsEmpty(const Schema& schema, const Value& value);
// Whether a normalized `value` is the type's zero. Not for structs.
bool IsZero(const Schema& schema, const Value& value);

// Normalizes `value` in place, sets `changed` if that changed it. New text lives in `arena`. False
// when it does not fit; WhyUnfit tells more. Not for structs, maps and lists.
bool NormalizeScalar(const Schema& schema, Value& value, Arena& arena, bool& changed);

// Why Go refuses a value.
struct Misfit {
  // What stands there, in Go's words ("string", "number 1.5"), and the Go type it did not fit.
  // Empty when `message`, of the type's own parser, says it all.
  std::string found;
  std::string type;
  std::string message;
  // A type that decodes itself ends the decoding at once; others let it go on to its end.
  bool ends = false;
};
// For any schema; `value` does not fit it.
Misfit WhyUnfit(const Schema& schema, const Value& value);

// A number's shortest text; without exponent below 1e21.
std::string DoubleText(double number);
// As it may have been written where an integer was asked for: "1.0".
std::string GoNumber(double number);
// "int32", "[]string", "v1alpha1.FlunderSpec".
std::string GoType(const Schema& schema);
// The Go type's name without package: "FlunderSpec"; empty if it has none.
std::string_view GoName(const Schema& schema);

// The Go type of what JSON is decoded into without a type: "int64", "map[string]interface {}";
// "<nil>" of null.
std::string_view GoTypeOf(const Value& value);

}  // namespace apiserver::inline v0::runtime
