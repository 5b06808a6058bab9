#pragma once

#include <string>

#include "apiserver/cel/value.h"

// Values and types in error messages.
namespace apiserver::inline v0::cel {

// Prints a value as Go's %v prints it: text without quotes, numbers, [1, 2], {a: 1}. Cut off after
// a few hundred bytes, as it stands in messages.
std::string PrintValue(const Value& value, Arena& arena);
// The same with times and durations as Go prints them: "2024-02-29 12:30:45 +0000 UTC", "1m30s".
std::string PrintGoValue(const Value& value, Arena& arena);
// Prints the run-time type of a value as cel-go's Type.String() does: "list(dyn)", "null_type".
std::string PrintTypeOf(const Value& value);
// Prints the Go type of a value as %T does: "types.Int".
std::string_view GoTypeOf(const Value& value);
// Prints the Go type of data that no expression has made a value of: "[]interface {}".
std::string_view GoTypeOfData(const Value& value);
// Prints the Go type of the content of a value, which Value() of cel-go returns: "int64".
std::string_view GoNativeTypeOf(const Value& value);

// Return the errors of look-ups.
Value NoSuchKey(const Value& key, Arena& arena);
Value IndexOutOfBounds(const Value& index, Arena& arena);

}  // namespace apiserver::inline v0::cel
