#pragma once

#include "apiserver/cel/value.h"

namespace apiserver::inline v0::cel {

// Turns the fields of a message literal into its value: a literal of google.protobuf's well-known
// types is the value that they stand for (a wrapper its scalar, Timestamp a timestamp, Struct a
// map); Object and JSONPatch of mutating policies are structs. An error: a field of another type
// than its own, an Any, or a type of Kubernetes that no literal makes.
Value FinishMessage(const Value& message, Arena& arena);

}  // namespace apiserver::inline v0::cel
