#pragma once

#include "apiserver/cel/value.h"

// Optionals as cel-go hands them on. An attribute (a variable, a branch of ?:, the beginning of a
// chain of selections) takes the Go value out of an optional and makes a value of it again, which
// not every value survives: applyQualifiers and evalAttr of its interpreter.
namespace apiserver::inline v0::cel {

// Returns the value that cel-go makes of a value that an optional holds.
Value TakenOut(const Value& held, Arena& arena);
// Returns the optional that cel-go makes of one.
Value Rewrapped(const Value& optional, Arena& arena);

// Rewraps the value of a variable if it is an optional.
inline void RewrapVariable(Value& place, Arena& arena) {
  if (place.Is(Value::Kind::kOptional)) place = Rewrapped(place, arena);
}

}  // namespace apiserver::inline v0::cel
