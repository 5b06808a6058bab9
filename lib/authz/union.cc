#include "apiserver/authz/union.h"

#include <iterator>
#include <string>
#include <utility>

#include "authz/aggregate.h"

namespace apiserver::v0::authz {
namespace {

using auth::Decision;
using auth::Verdict;

// Follows unionAuthzHandler.Authorize: the first decision ends the search, errors do not.
class Union final : public auth::Authorizer {
 public:
  explicit Union(std::vector<std::shared_ptr<const auth::Authorizer>> authorizers)
      : authorizers_(std::move(authorizers)) {}

  Result<Verdict> Authorize(const Context& ctx, const auth::Attributes& asked) const override {
    std::vector<Status> errors;
    std::string reasons;
    for (const auto& authorizer : authorizers_) {
      Result<Verdict> verdict = authorizer->Authorize(ctx, asked);
      if (!verdict.ok()) {
        // Not a decision: the request must be authorized again where waiting is allowed.
        if (verdict.status().reason() == Reason::kWouldBlock) return verdict;
        errors.push_back(verdict.status());
        continue;
      }
      if (verdict->decision != Decision::kNoOpinion) return verdict;
      if (verdict->reason.empty()) continue;
      if (!reasons.empty()) reasons += '\n';
      reasons += verdict->reason;
    }
    if (!errors.empty()) return OneOf(errors);
    return Verdict{.reason = std::move(reasons)};
  }

 private:
  static Status OneOf(const std::vector<Status>& errors) {
    if (errors.size() == 1) return errors.front();
    std::vector<std::string> messages;
    messages.reserve(errors.size());
    for (const Status& error : errors) messages.emplace_back(error.message());
    return Status(Reason::kInternalError, Aggregate(messages));
  }

  const std::vector<std::shared_ptr<const auth::Authorizer>> authorizers_;
};

// Follows unionAuthzRulesHandler.RulesFor: rules of all, incomplete if those of one are.
class RuleResolverUnion final : public auth::RuleResolver {
 public:
  explicit RuleResolverUnion(std::vector<std::shared_ptr<const auth::RuleResolver>> resolvers)
      : resolvers_(std::move(resolvers)) {}

  auth::Rules RulesFor(const Context& ctx, const auth::UserInfoPtr& user,
                       std::string_view namespace_) const override {
    auth::Rules all;
    std::vector<std::string> errors;
    for (const auto& resolver : resolvers_) {
      auth::Rules rules = resolver->RulesFor(ctx, user, namespace_);
      all.incomplete = all.incomplete || rules.incomplete;
      if (!rules.error.empty()) errors.push_back(std::move(rules.error));
      std::ranges::move(rules.resource_rules, std::back_inserter(all.resource_rules));
      std::ranges::move(rules.non_resource_rules, std::back_inserter(all.non_resource_rules));
    }
    all.error = Aggregate(errors);
    return all;
  }

 private:
  const std::vector<std::shared_ptr<const auth::RuleResolver>> resolvers_;
};

}  // namespace

std::unique_ptr<auth::Authorizer> NewUnion(
    std::vector<std::shared_ptr<const auth::Authorizer>> authorizers) {
  return std::make_unique<Union>(std::move(authorizers));
}

std::unique_ptr<auth::RuleResolver> NewRuleResolverUnion(
    std::vector<std::shared_ptr<const auth::RuleResolver>> resolvers) {
  return std::make_unique<RuleResolverUnion>(std::move(resolvers));
}

}  // namespace apiserver::v0::authz
