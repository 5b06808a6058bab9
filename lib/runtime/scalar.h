#pragma once  // Library-internal: other rooms include this header.

#include <string>
#include <string_view>

#include "apiserver/runtime/schema.h"
#include "apiserver/runtime/value.h"

// Decodes a value that is no struct, map or list into a Go type and encodes it again, as Go's
// encoding/json does.
namespace apiserver::inline v0::runtime {

bool IsContainer(SchemaType type);
// Returns the zero value of the Go type, as JSON: 0, "", null, "0s"; an empty map for a struct.
Value ZeroOf(const Schema& schema);
// Returns true if omitempty leaves out a normalized `value` of this type.
bool IsEmpty(const Schema& schema, const Value& value);
// Returns true if a normalized `value` is the type's zero. Not for structs.
bool IsZero(const Schema& schema, const Value& value);

// Normalizes `value` in place and sets `changed` if that changed it. New text lives in `arena`.
// False: the value does not fit the type; WhyUnfit returns the reason. Not for structs, maps and
// lists.
bool NormalizeScalar(const Schema& schema, Value& value, Arena& arena, bool& changed);

// The reason why Go refuses a value.
struct Misfit {
  // The value in Go's words ("string", "number 1.5"), and the Go type that it does not fit. Empty:
  // `message`, from the type's own parser, is the whole error.
  std::string found;
  std::string type;
  std::string message;
  // A type that decodes itself ends the decoding at once; others let it go on to its end.
  bool ends = false;
};
// Returns the reason why `value` does not fit `schema`, which may be any.
Misfit WhyUnfit(const Schema& schema, const Value& value);

// Returns a number's shortest text; without exponent below 1e21.
std::string DoubleText(double number);
// Returns the number as the client may have written it in place of an integer: "1.0".
std::string GoNumber(double number);
// "int32", "[]string", "v1alpha1.FlunderSpec".
std::string GoType(const Schema& schema);
// The Go type's name without package: "FlunderSpec"; empty if it has none.
std::string_view GoName(const Schema& schema);

// Returns the Go type that untyped JSON is decoded into: "int64", "map[string]interface {}";
// "<nil>" of null.
std::string_view GoTypeOf(const Value& value);

}  // namespace apiserver::inline v0::runtime
