#pragma once

#include <cstdint>

#include "apiserver/cel/value.h"

// The order of values.
namespace apiserver::inline v0::cel {

// Compare numbers of two types as cel-go does: through double where one is a double, so that
// integers above 2^53 can be equal to it. Negative, zero, positive.
int CompareNumbers(std::int64_t a, std::uint64_t b);
int CompareNumbers(double a, std::int64_t b);
int CompareNumbers(double a, std::uint64_t b);

// Tells if values of this kind have an order: bool, numbers, string, bytes, timestamp, duration.
bool IsOrdered(Value::Kind kind);

// Compares two values, of which the first must be ordered: Int(-1), Int(0), Int(1), or an error:
// "no such overload" for different kinds that are not both numbers, "NaN values cannot be ordered".
Value Compare(const Value& a, const Value& b);

}  // namespace apiserver::inline v0::cel
