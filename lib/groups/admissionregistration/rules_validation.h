#pragma once

#include "apiserver/base/field_path.h"
#include "apiserver/runtime/value.h"

namespace apiserver::inline v0::groups::admissionregistration {

// Validates the operations and resources of a webhook's rule.
void ValidateRuleWithOperations(const runtime::Value& rule, const field::Path& path,
                                field::ErrorList& errors);

}  // namespace apiserver::inline v0::groups::admissionregistration
