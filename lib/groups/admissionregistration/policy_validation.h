#pragma once

#include "admission/policy/expression.h"
#include "apiserver/base/field_path.h"
#include "apiserver/runtime/object.h"

// Follows kubernetes/pkg/apis/admissionregistration/validation, as far as policies go.
namespace apiserver::inline v0::groups::admissionregistration {

// Validates a ValidatingAdmissionPolicy or MutatingAdmissionPolicy. `old` is the stored object: its
// expressions may use what a new policy may not, and match conditions that did not change are not
// checked. Null: a create. `checker` compiles the expressions.
field::ErrorList ValidatePolicy(const runtime::Object& policy, const runtime::Object* old,
                                admission::policy::ExpressionChecker& checker);

// Validates a binding of either kind of policy.
field::ErrorList ValidatePolicyBinding(const runtime::Object& binding);

// Validates the status of a ValidatingAdmissionPolicy.
field::ErrorList ValidatePolicyStatus(const runtime::Object& policy);

}  // namespace apiserver::inline v0::groups::admissionregistration
