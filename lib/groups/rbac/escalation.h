#pragma once

#include <memory>

#include "apiserver/auth/authorizer.h"
#include "apiserver/authz/rbac.h"
#include "apiserver/registry/store.h"

// The rule that no user grants more than the user's own rights:
// k8s.io/kubernetes/pkg/registry/rbac/*/policybased.
namespace apiserver::inline v0::groups::rbac {

// The authorizers to ask, and the stores of the roles.
struct Powers {
  std::shared_ptr<const authz::rbac::RbacAuthorizer> rbac;
  std::shared_ptr<const auth::Authorizer> authorizer;
  // The role of a binding is read here, so that it is not older than the binding.
  std::shared_ptr<registry::Store> roles;
  std::shared_ptr<registry::Store> cluster_roles;
};

// Returns `store` of roles or cluster roles with a check: a user can create or change a role only
// with all of its rules, with the verb `escalate` on it, or in system:masters. 403 otherwise.
std::shared_ptr<registry::Store> NewGuardedRoles(std::shared_ptr<registry::Store> store,
                                                 Powers powers);
// Returns `store` of bindings with the same check for the rules of the bound role, and the verb
// `bind`.
std::shared_ptr<registry::Store> NewGuardedBindings(std::shared_ptr<registry::Store> store,
                                                    Powers powers);

}  // namespace apiserver::inline v0::groups::rbac
