#pragma once

#include "apiserver/cel/value.h"

// Equality of values. Takes constant stack at every depth.
namespace apiserver::inline v0::cel {

// Compares as "==" does. Returns a bool or an error. Different kinds are unequal, numbers compare
// on a number line. Lists compare element by element, sets and map-lists without order, maps by
// key; the left operand's schema decides which. A left operand with a schema has Go's quirk:
// comparing it with another kind is the error "no such overload". Takes work from the arena for
// each part, and stops when none is left.
Value Equal(const Value& a, const Value& b, Arena& arena);

// Compares two values of which neither is a list, map, struct or optional; different kinds are
// unequal.
bool SameScalar(const Value& a, const Value& b);

// Tells if `list` contains the value, as "in" does: a bool or an error.
Value ListContains(const Value& list, const Value& value, Arena& arena);

// Adds two lists: appends, or merges what the left list's schema says are a set or map-list.
Value AddLists(const Value& a, const Value& b, Arena& arena);

}  // namespace apiserver::inline v0::cel
