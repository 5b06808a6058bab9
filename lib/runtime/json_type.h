#pragma once  // Library-internal: other rooms include this header.

#include <string_view>

#include "apiserver/runtime/value.h"

namespace apiserver::inline v0::runtime {

// Returns the name that Go's encoding/json uses for the type of `value`.
inline std::string_view JsonTypeName(const Value& value) {
  switch (value.type()) {
    case Value::Type::kBool:
      return "bool";
    case Value::Type::kInt:
    case Value::Type::kDouble:
      return "number";
    case Value::Type::kList:
      return "array";
    case Value::Type::kMap:
      return "object";
    default:
      return "string";
  }
}

}  // namespace apiserver::inline v0::runtime
