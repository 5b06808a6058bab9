#pragma once

#include <memory>
#include <string>
#include <vector>

#include "apiserver/auth/authorizer.h"
#include "apiserver/auth/rules.h"
#include "apiserver/base/status.h"

// Authorizers without data: k8s.io/apiserver/pkg/authorization/authorizerfactory and
// pkg/authorization/path.
namespace apiserver::inline v0::authz {

// Allows everything.
std::unique_ptr<auth::Authorizer> NewAlwaysAllow();
// Its rules: every verb on everything.
std::unique_ptr<auth::RuleResolver> NewAlwaysAllowRules();

// Allows nothing: no opinion, with the reason "Everything is forbidden.".
std::unique_ptr<auth::Authorizer> NewAlwaysDeny();

// Allows everything to members of one of `groups`, usually system:masters; no opinion of other
// users. Stands first in a union, so that the server's own loopback client works whatever the
// policy is.
std::unique_ptr<auth::Authorizer> NewPrivilegedGroups(std::vector<std::string> groups);

// Allows all users the non-resource `paths`; one that ends in '*' is a prefix; the leading slash is
// optional. No opinion of anything else. kInvalid: a '*' that is not the last character.
Result<std::unique_ptr<auth::Authorizer>> NewAlwaysAllowPaths(
    const std::vector<std::string>& paths);

}  // namespace apiserver::inline v0::authz
