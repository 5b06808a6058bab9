#pragma once

#include <memory>
#include <vector>

#include "apiserver/auth/authorizer.h"
#include "apiserver/auth/rules.h"

// Authorizers made of others: k8s.io/apiserver/pkg/authorization/union.
namespace apiserver::inline v0::authz {

// The first that allows or denies decides; none of it: no opinion, with the reasons of all, a line
// each. An error of one does not keep the next from being asked, and is the answer if nobody
// decides: one message alone, or "[a, b]", kInternalError unless it is of one authorizer.
// kWouldBlock is returned at once: those behind are asked when the answer is there. None at all: no
// opinion.
std::unique_ptr<auth::Authorizer> NewUnion(
    std::vector<std::shared_ptr<const auth::Authorizer>> authorizers);

// The rules of all, one after the other; incomplete if those of one are.
std::unique_ptr<auth::RuleResolver> NewRuleResolverUnion(
    std::vector<std::shared_ptr<const auth::RuleResolver>> resolvers);

}  // namespace apiserver::inline v0::authz
