#pragma once

#include <memory>

#include "apiserver/auth/authorizer.h"
#include "apiserver/authz/rbac.h"
#include "apiserver/registry/store.h"

// Nobody gives away more than she holds: k8s.io/kubernetes/pkg/registry/rbac/*/policybased.
namespace apiserver::inline v0::groups::rbac {

// Whom to ask, and where the roles are.
struct Powers {
  std::shared_ptr<const authz::rbac::RbacAuthorizer> rbac;
  std::shared_ptr<const auth::Authorizer> authorizer;
  // What a binding names is read here, so that it is not older than the binding.
  std::shared_ptr<registry::Store> roles;
  std::shared_ptr<registry::Store> cluster_roles;
};

// `store` of roles or cluster roles, of which one can be created or changed only by who holds all
// its rules, may `escalate` such, or is in system:masters. 403 otherwise.
std::shared_ptr<registry::Store> NewGuardedRoles(std::shared_ptr<registry::Store> store,
                                                 Powers powers);
// `store` of bindings, the same with the rules of the role that is named, and the verb `bind`.
std::shared_ptr<registry::Store> NewGuardedBindings(std::shared_ptr<registry::Store> store,
                                                    Powers powers);

}  // namespace apiserver::inline v0::groups::rbac
