#pragma once

#include <vector>

#include "apiserver/authz/rbac.h"
#include "apiserver/runtime/object.h"

// Conversions between API objects and the authorizer's structures.
namespace apiserver::inline v0::groups::rbac {

// Returns the `rules` of a Role or ClusterRole.
std::vector<authz::rbac::PolicyRule> RulesOf(const runtime::Value& rules);
authz::rbac::RoleRef RoleRefOf(const runtime::Value& role_ref);
authz::rbac::Role RoleOf(const runtime::Object& object);
authz::rbac::Binding BindingOf(const runtime::Object& object);

// Returns the rules as a value in `arena`.
runtime::Value ToValue(const std::vector<authz::rbac::PolicyRule>& rules, runtime::Arena& arena);

}  // namespace apiserver::inline v0::groups::rbac
