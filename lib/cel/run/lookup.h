#pragma once

#include <optional>

#include "apiserver/cel/value.h"

// Fields and indexes: refQualify of cel-go's interpreter/attributes.go.
namespace apiserver::inline v0::cel {

// A constant field name, as a program keeps it.
struct FieldName {
  std::string_view name;      // As it is written.
  std::string_view property;  // Unescaped: the name in data with properties.
  bool unescapes = true;  // False: the name has an unknown "__word__", such data has no such field.
  bool selected = false;  // The expression selects or tests it, which a message literal does not.
};

// Select a field, or apply an index. Return an error if there is none: "no such key: x", "index out
// of bounds: 5".
Value SelectField(const Value& object, const FieldName& name, Arena& arena);
// The same where the static type of the object is a struct's: absent fields of Object are null.
Value SelectTypedField(const Value& object, const FieldName& name, Arena& arena);
Value ApplyIndex(const Value& object, const Value& index, Arena& arena);

// Tells if cel-go takes a value for an index at all.
bool IsIndex(const Value& index);
// The error of one that it does not. `native`: the value may be data that a host handed in and no
// expression has made a value of.
Value NotAnIndex(const Value& index, bool native, Arena& arena);

// Do the same where absence is no error: nullopt. Scalars have no fields.
std::optional<Value> FindField(const Value& object, const FieldName& name, Arena& arena);
std::optional<Value> FindIndex(const Value& object, const Value& index, Arena& arena);

}  // namespace apiserver::inline v0::cel
