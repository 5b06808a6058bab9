#pragma once

#include <string>

#include "patch/apply/type.h"

namespace apiserver::inline v0::patch::apply {

// True if `value` may stand where a scalar of this type is; null may.
bool IsScalarOf(Type::Scalar scalar, const runtime::Value& value);
// Returns why it may not.
std::string ScalarError(Type::Scalar scalar, const runtime::Value& value);

}  // namespace apiserver::inline v0::patch::apply
