#pragma once

#include <string_view>
#include <vector>

#include "apiserver/auth/user.h"
#include "apiserver/authz/rbac.h"
#include "apiserver/base/context.h"
#include "apiserver/base/status.h"

// Privilege escalation checks: a user may only grant permissions that it holds.
// k8s.io/component-helpers/auth/rbac/validation and k8s.io/kubernetes/pkg/registry/rbac/validation.
namespace apiserver::inline v0::authz::rbac {

// Returns the parts of `wanted` that no rule of `held` covers, each with one verb, and one resource
// of one group, or one URL. Empty: all is covered. A rule covers a part whole or not at all.
std::vector<PolicyRule> NotCovered(const std::vector<PolicyRule>& held,
                                   const std::vector<PolicyRule>& wanted);
// True if NotCovered() is empty.
bool Covers(const std::vector<PolicyRule>& held, const std::vector<PolicyRule>& wanted);

// Returns equivalent rules, with the verbs of each single resource in one rule.
std::vector<PolicyRule> CompactRules(const std::vector<PolicyRule>& rules);

// Checks that `user` holds all of `rules` in `namespace_` (empty: cluster-wide). kForbidden: it
// does not, and the message lists the missing rules, or the first of many; or there is too much to
// compare. The error of `ctx`: it was done first.
Status ConfirmNoEscalation(const Context& ctx, const RbacAuthorizer& authorizer,
                           const auth::UserInfo& user, std::string_view namespace_,
                           const std::vector<PolicyRule>& rules);

}  // namespace apiserver::inline v0::authz::rbac
