#pragma once

#include "apiserver/base/field_path.h"
#include "apiserver/runtime/value.h"

namespace apiserver::inline v0::groups::admissionregistration {

// Which operations and resources a webhook is for.
void ValidateRuleWithOperations(const runtime::Value& rule, const field::Path& path,
                                field::ErrorList& errors);

}  // namespace apiserver::inline v0::groups::admissionregistration
