#pragma once

#include <string>

#include "apiserver/cel/arena.h"
#include "apiserver/cel/value.h"

// Values as text, for people who debug expressions.
namespace apiserver::inline v0::cel {

// Returns the value in the notation of expressions: [1, 2u, 1.5], {"a": b"\xff"}, optional.none(),
// timestamp("2024-02-29T12:30:45Z"). Strings are quoted as in JSON, so that data that came from
// JSON is printed as JSON. Values without a notation are named in angle brackets:
// <kubernetes.Quantity>, <error: no such key: a>. Members of data that its schema does not declare
// are left out, as expressions do not see them. `arena` holds what is made on the way. Uses
// constant stack. The text may be long: expressions share the items that they repeat.
std::string ToText(const Value& value, Arena& arena);

}  // namespace apiserver::inline v0::cel
