#pragma once

#include <vector>

#include "apiserver/base/status.h"
#include "apiserver/runtime/kind.h"

namespace apiserver::inline v0::groups::admissionregistration {

// True for ValidatingAdmissionPolicyBinding and MutatingAdmissionPolicyBinding.
bool IsBinding(const runtime::Kind& kind);
// True for ValidatingAdmissionPolicy.
bool HasStatus(const runtime::Kind& kind);
// True for the kinds that v1beta1 has too.
bool IsMutating(const runtime::Kind& kind);
// Returns PolicyKinds(); mutating policies are served in v1beta1 only if asked for, and stored in
// it all the same.
Result<std::vector<runtime::KindPtr>> PolicyKindsWith(bool v1beta1);

}  // namespace apiserver::inline v0::groups::admissionregistration
