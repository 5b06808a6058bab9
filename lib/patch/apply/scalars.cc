#include "patch/apply/scalars.h"

#include "patch/go_print.h"
#include "runtime/scalar.h"

namespace apiserver::v0::patch::apply {

using runtime::Value;

bool IsScalarOf(Type::Scalar scalar, const Value& value) {
  const bool text = value.type() == Value::Type::kString || value.type() == Value::Type::kBytes ||
                    value.type() == Value::Type::kRaw;
  const bool boolean = value.type() == Value::Type::kBool;
  if (value.is_null()) return true;
  switch (scalar) {
    case Type::Scalar::kNone:
      return false;
    case Type::Scalar::kNumeric:
      return value.is_number();
    case Type::Scalar::kString:
      return text;
    case Type::Scalar::kBoolean:
      return boolean;
    case Type::Scalar::kUntyped:
      return text || boolean || value.is_number();
  }
  return false;
}

std::string ScalarError(Type::Scalar scalar, const Value& value) {
  switch (scalar) {
    case Type::Scalar::kNone:
      break;
    case Type::Scalar::kNumeric:
      return "expected numeric (int or float), got " + std::string(runtime::GoTypeOf(value));
    case Type::Scalar::kString:
      return "expected string, got &value.valueUnstructured{Value:" +
             PrintGoSyntax(value, kShownBytesMax) + "}";
    case Type::Scalar::kBoolean:
      return "expected boolean, got &{" + PrintGo(value, kShownBytesMax) + "}";
    case Type::Scalar::kUntyped:
      return "expected any scalar, got &{" + PrintGo(value, kShownBytesMax) + "}";
  }
  return "unexpected scalar type in schema";
}

}  // namespace apiserver::v0::patch::apply
