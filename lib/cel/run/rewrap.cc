#include "cel/run/rewrap.h"

#include <string>

#include "cel/run/views.h"

namespace apiserver::v0::cel {

using Kind = Value::Kind;

Value TakenOut(const Value& held, Arena& arena) {
  const Value* value = &held;
  while (value->Is(Kind::kOptional)) {
    value = value->AsOptional();
    if (value == nullptr) return {};
  }
  switch (value->kind()) {
    case Kind::kType:
      return Value::String(Type(value->AsType()).name());
    // The Go values of views are the data: the schema is lost.
    case Kind::kList:
    case Kind::kMap:
      return DataViews::WithoutSchema(*value);
    case Kind::kOpaque: {
      if (value->IsOpaque(kUnknownPreserved)) {
        return Value::FromData(value->AsOpaque<runtime::Value>(), nullptr, arena);
      }
      const auto take_out = value->opaque_kind().error_taken_out;
      return take_out == nullptr ? *value
                                 : Value::Error(arena.Copy(take_out(&value->AsOpaque<char>())));
    }
    case Kind::kError: {
      // The Go value of an error is none of CEL's.
      std::string text = "unsupported conversion to ref.Val: (*errors.errorString)";
      return Value::Error(arena.Copy(text.append(value->AsText())));
    }
    default:
      return *value;
  }
}

Value Rewrapped(const Value& optional, Arena& arena) {
  const Value* const held = optional.AsOptional();
  return held == nullptr ? optional : Value::Optional(TakenOut(*held, arena), arena);
}

}  // namespace apiserver::v0::cel
