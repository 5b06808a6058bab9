#pragma once

#include "apiserver/cel/value.h"

namespace apiserver::inline v0::cel {

// States of registers that no expression sees.
struct Marks {
  // A variable whose value has not been computed yet.
  static Value Unset() { return Value(Value::Kind::kUnknown); }
  static bool IsUnset(const Value& value) { return value.Is(Value::Kind::kUnknown); }

  // The value stands in a chain of selections after an optional one (o.?a.b): absence ends the
  // chain with optional.none(), and its result will be wrapped.
  static bool InOptional(const Value& value) { return value.in_optional_; }
  static void SetInOptional(Value& value, bool in_optional) { value.in_optional_ = in_optional; }
};

}  // namespace apiserver::inline v0::cel
