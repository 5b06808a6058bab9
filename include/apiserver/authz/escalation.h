#pragma once

#include <string_view>
#include <vector>

#include "apiserver/auth/user.h"
#include "apiserver/authz/rbac.h"
#include "apiserver/base/context.h"
#include "apiserver/base/status.h"

// Nobody may give away what she does not hold: k8s.io/component-helpers/auth/rbac/validation and
// k8s.io/kubernetes/pkg/registry/rbac/validation.
namespace apiserver::inline v0::authz::rbac {

// The parts of `wanted` that no rule of `held` covers, each with one verb, and one resource of one
// group, or one URL; empty: all is covered. A rule covers a part whole or not at all.
std::vector<PolicyRule> NotCovered(const std::vector<PolicyRule>& held,
                                   const std::vector<PolicyRule>& wanted);
bool Covers(const std::vector<PolicyRule>& held, const std::vector<PolicyRule>& wanted);

// Rules that allow the same, with the verbs of each single resource in one rule.
std::vector<PolicyRule> CompactRules(const std::vector<PolicyRule>& rules);

// OK: `user` holds all of `rules` in `namespace_` (empty: cluster-wide). kForbidden: not so, and
// the message lists what is missing, or its beginning if it is much; or there is too much to
// compare. What `ctx` says: it was done before that was known.
Status ConfirmNoEscalation(const Context& ctx, const RbacAuthorizer& authorizer,
                           const auth::UserInfo& user, std::string_view namespace_,
                           const std::vector<PolicyRule>& rules);

}  // namespace apiserver::inline v0::authz::rbac
