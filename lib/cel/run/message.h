#pragma once

#include "apiserver/cel/value.h"

namespace apiserver::inline v0::cel {

// Turns the fields of a message literal into its value: a literal of google.protobuf's well-known
// types is the value that they stand for (a wrapper its scalar, Timestamp a timestamp, Struct a
// map); every other message is a struct. An error: a field that the type does not have, or of
// another type.
Value FinishMessage(const Value& message, Arena& arena);

}  // namespace apiserver::inline v0::cel
