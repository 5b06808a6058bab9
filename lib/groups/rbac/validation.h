#pragma once

#include "apiserver/base/field_path.h"
#include "apiserver/runtime/object.h"

// Validation of roles and bindings: k8s.io/kubernetes/pkg/apis/rbac/validation. The object's kind
// tells if it is namespaced.
namespace apiserver::inline v0::groups::rbac {

field::ErrorList ValidateRole(const runtime::Object& role);
field::ErrorList ValidateBinding(const runtime::Object& binding);
// Validate updates: a role's rules may change, a binding's roleRef may not.
field::ErrorList ValidateRoleUpdate(const runtime::Object& now, const runtime::Object& before);
field::ErrorList ValidateBindingUpdate(const runtime::Object& now, const runtime::Object& before);

}  // namespace apiserver::inline v0::groups::rbac
