#pragma once

#include <memory>

#include "admission/policy/expression.h"
#include "apiserver/base/clock.h"
#include "apiserver/rest/storage.h"
#include "apiserver/rest/strategy.h"
#include "apiserver/runtime/kind.h"
#include "groups/admissionregistration/policy_access.h"

namespace apiserver::inline v0::groups::admissionregistration {

// Returns the strategy of `kind`: a policy or a binding, validating or mutating. `access` checks
// that the writer may read the parameters. `new_checker` compiles the expressions of policies.
std::shared_ptr<const rest::Strategy> NewPolicyStrategy(
    const runtime::KindPtr& kind, std::shared_ptr<const ParamAccess> access,
    admission::policy::NewExpressionChecker new_checker);
// Returns the strategy of the subresource status of ValidatingAdmissionPolicy.
std::shared_ptr<const rest::Strategy> NewPolicyStatusStrategy(const runtime::KindPtr& kind);
// Returns the columns of `kind`. `clock` must outlive them.
std::shared_ptr<const rest::TableConvertor> NewPolicyColumns(const runtime::KindPtr& kind,
                                                             const Clock& clock);

}  // namespace apiserver::inline v0::groups::admissionregistration
