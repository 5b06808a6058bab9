#pragma once

#include "apiserver/runtime/kind.h"

namespace apiserver::inline v0::groups::admissionregistration {

// True for ValidatingAdmissionPolicyBinding and MutatingAdmissionPolicyBinding.
bool IsBinding(const runtime::Kind& kind);
// True for ValidatingAdmissionPolicy.
bool HasStatus(const runtime::Kind& kind);
// True for the kinds that v1beta1 has too.
bool IsMutating(const runtime::Kind& kind);

}  // namespace apiserver::inline v0::groups::admissionregistration
