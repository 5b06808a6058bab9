#pragma once

#include "apiserver/base/field_path.h"
#include "apiserver/runtime/object.h"

// What roles and bindings must be: k8s.io/kubernetes/pkg/apis/rbac/validation. Namespaced or not is
// what the object's kind is.
namespace apiserver::inline v0::groups::rbac {

field::ErrorList ValidateRole(const runtime::Object& role);
field::ErrorList ValidateBinding(const runtime::Object& binding);
// A role's rules may change, a binding's roleRef may not.
field::ErrorList ValidateRoleUpdate(const runtime::Object& now, const runtime::Object& before);
field::ErrorList ValidateBindingUpdate(const runtime::Object& now, const runtime::Object& before);

}  // namespace apiserver::inline v0::groups::rbac
