#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "apiserver/auth/authorizer.h"
#include "apiserver/auth/rules.h"
#include "apiserver/base/status.h"
#include "apiserver/rest/storage.h"
#include "apiserver/runtime/kind.h"
#include "apiserver/server/server.h"

// The group authorization.k8s.io, v1, as of Kubernetes 1.35: reviews of users' rights. A review is
// created and answered, but not stored.
namespace apiserver::inline v0::groups::authorization {

// Returns LocalSubjectAccessReview, SelfSubjectAccessReview, SelfSubjectRulesReview and
// SubjectAccessReview; see core::Kinds().
Result<std::vector<runtime::KindPtr>> Kinds();

// Serves the access reviews, which `authorizer` answers, and SelfSubjectRulesReview, which `rules`
// answers; they must be the ones that the server itself uses, or the answers are wrong. `kubectl
// auth can-i` needs no more than this.
//
//   RETURN_IF_ERROR(groups::authorization::Install(*server, authorizer, rules));
//
// `authorizer` null: everything is allowed, as by a server without one. `rules` null, with an
// authorizer: SelfSubjectRulesReview is not served, for an Authorizer cannot list its rules.
// kConflict: the server has the group already.
Status Install(server::GenericAPIServer& server, std::shared_ptr<const auth::Authorizer> authorizer,
               std::shared_ptr<const auth::RuleResolver> rules = nullptr);

// Returns the storages alone, by resource, for hosts that serve more of the group. `kinds` is the
// result of Kinds(); `authorizer` must not be null. `rules` null: there is no
// SelfSubjectRulesReview.
std::map<std::string, std::shared_ptr<rest::Storage>> AccessReviews(
    const std::vector<runtime::KindPtr>& kinds,
    const std::shared_ptr<const auth::Authorizer>& authorizer,
    const std::shared_ptr<const auth::RuleResolver>& rules = nullptr);

}  // namespace apiserver::inline v0::groups::authorization
