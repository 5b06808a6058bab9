#pragma once

#include "admission/policy/expression.h"
#include "apiserver/base/field_path.h"
#include "apiserver/runtime/object.h"

// Follows kubernetes/pkg/apis/admissionregistration/validation, as far as webhooks go.
namespace apiserver::inline v0::groups::admissionregistration {

// Validates either kind of configuration. `checker` compiles its match conditions.
field::ErrorList ValidateConfiguration(const runtime::Object& configuration,
                                       admission::policy::ExpressionChecker& checker);
// Validates an update; errors that `old` has already are allowed. Match conditions that did not
// change are not checked.
field::ErrorList ValidateConfigurationUpdate(const runtime::Object& configuration,
                                             const runtime::Object& old,
                                             admission::policy::ExpressionChecker& checker);

}  // namespace apiserver::inline v0::groups::admissionregistration
