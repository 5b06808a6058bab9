#pragma once

#include <memory>
#include <vector>

#include "apiserver/auth/authorizer.h"
#include "apiserver/auth/rules.h"

// Authorizers composed of others: k8s.io/apiserver/pkg/authorization/union.
namespace apiserver::inline v0::authz {

// Asks each until one allows or denies. If none does: no opinion, with the reasons of all, a line
// each. An error of one does not stop the search, and is the result if none decides: one message
// alone, or "[a, b]", kInternalError unless it is of one authorizer. kWouldBlock is returned at
// once: the next authorizers are asked when the answer is there. An empty list: no opinion.
std::unique_ptr<auth::Authorizer> NewUnion(
    std::vector<std::shared_ptr<const auth::Authorizer>> authorizers);

// Returns the rules of all, one after the other; incomplete if those of one are.
std::unique_ptr<auth::RuleResolver> NewRuleResolverUnion(
    std::vector<std::shared_ptr<const auth::RuleResolver>> resolvers);

}  // namespace apiserver::inline v0::authz
