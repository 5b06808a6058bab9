#pragma once

#include <string>

#include "apiserver/cel/value.h"

// Values and types in error messages.
namespace apiserver::inline v0::cel {

// Prints a value as Go's %v prints it: text without quotes, numbers, [1, 2], {a: 1}. Cut off after
// a few hundred bytes, as it stands in messages.
std::string PrintValue(const Value& value, Arena& arena);
// Prints the run-time type of a value as cel-go's Type.String() does: "list(dyn)", "null_type".
std::string PrintTypeOf(const Value& value);
// Prints the Go type of a value as %T does: "types.Int".
std::string_view GoTypeOf(const Value& value);

// Return the errors of look-ups.
Value NoSuchKey(const Value& key, Arena& arena);
Value IndexOutOfBounds(const Value& index, Arena& arena);

}  // namespace apiserver::inline v0::cel
