#pragma once

#include <span>
#include <string_view>
#include <utility>

#include "apiserver/base/status.h"
#include "apiserver/cel/arena.h"
#include "apiserver/cel/value.h"
#include "apiserver/runtime/arena.h"
#include "apiserver/runtime/value.h"

// Values as JSON data, for expressions whose result is part of an object, and maps of values.
namespace apiserver::inline v0::cel {

// Returns the value as JSON: structs and maps as objects, bytes as base64, timestamps and durations
// as text; an optional as its value. All text is copied into `arena`; `scratch` holds what is made
// on the way. kInvalid: the value has a part that is no JSON, such as a type or a map key that is
// no string. Bounded by the size of the value, which the cost of its expression bounds. Follows
// ObjectVal.ConvertToNative of k8s.io/apiserver/pkg/cel/mutation/dynamic.
Result<runtime::Value> ToData(const Value& value, Arena& scratch, runtime::Arena& arena);

// Returns a map with text keys, which are distinct. Borrows the texts; the map lies in `arena`.
Value MapOf(std::span<const std::pair<std::string_view, Value>> entries, Arena& arena);

// Checks that the struct in each field of `object`, and within the lists and maps there, has the
// name of the field's path: Object.spec in Object. A value that is no struct passes. kInvalid:
// `unexpected type name "Object.x", expected "Object.spec", which matches field name path from root
// Object type`, a line for each.
Status CheckTypeNames(const Value& object, Arena& scratch);
// The same for the struct in one field of the struct `outer`, if it has one there.
Status CheckTypeNamesOf(const Value& outer, std::string_view field, Arena& scratch);

}  // namespace apiserver::inline v0::cel
