#pragma once

#include <string>

#include "patch/apply/type.h"

namespace apiserver::inline v0::patch::apply {

// True for a text in a place where there may be any.
inline bool IsText(const Type& type, const runtime::Value& value) {
  const bool texts = type.scalar == Type::Scalar::kString || type.scalar == Type::Scalar::kUntyped;
  return texts && value.is_string();
}
// True if `value` may stand where a scalar of this type is; null may.
bool IsScalarOf(Type::Scalar scalar, const runtime::Value& value);
// Returns why it may not.
std::string ScalarError(Type::Scalar scalar, const runtime::Value& value);

}  // namespace apiserver::inline v0::patch::apply
