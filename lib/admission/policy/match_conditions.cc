#include "admission/policy/match_conditions.h"

#include <algorithm>
#include <vector>

namespace apiserver::v0::admission::policy {

namespace {

// Joins errors as utilerrors.NewAggregate does: each distinct one once.
std::string Aggregated(const std::vector<std::string>& errors) {
  std::vector<std::string> distinct;
  for (const std::string& error : errors) {
    if (std::ranges::find(distinct, error) == distinct.end()) distinct.push_back(error);
  }
  if (distinct.size() == 1) return distinct.front();
  std::string all;
  for (const std::string& error : distinct) all += (all.empty() ? "" : ", ") + error;
  return "[" + all + "]";
}

}  // namespace

MatchResult MatchConditions::Failed(std::string error) const {
  if (options_.fail_open) return {.matches = false};
  return {.matches = false, .error = std::move(error)};
}

MatchResult MatchConditions::Match(const Context& ctx, const Variables& variables,
                                   Metrics* metrics) const {
  if (!options_.conditions) return {};
  const Clock::Monotonic began = metrics ? metrics->clock().Now() : Clock::Monotonic();
  const MatchConditionLabels labels{.name = options_.name,
                                    .kind = options_.kind,
                                    .type = options_.type,
                                    .operation = variables.attributes->operation};
  MatchResult result = Evaluate(ctx, variables, metrics, labels);
  // A match is not measured, as upstream.
  if (metrics && !result.matches) {
    metrics->policies().ObserveConditionTime(labels, metrics->clock().Now() - began);
  }
  return result;
}

MatchResult MatchConditions::Evaluate(const Context& ctx, const Variables& variables,
                                      Metrics* metrics, const MatchConditionLabels& labels) const {
  // Conditions see no namespace, and the requested resource, as upstream.
  Variables seen = variables;
  seen.namespace_object = {};
  seen.request = variables.condition_request;
  EvaluatedList list = options_.conditions->Evaluate(ctx, seen, kMatchConditionsCostBudget);
  if (list.failure != EvaluatedList::Failure::kNone) return Failed(std::move(list.message));
  std::vector<std::string> errors;
  for (Evaluated& result : list.results) {
    if (result.kind == Evaluated::Kind::kError) {
      errors.push_back(std::move(result.text));
      if (metrics) metrics->policies().ObserveConditionError(labels);
    }
    // A condition that is false wins over errors before it.
    if (result.kind == Evaluated::Kind::kBool && !result.truth) return {.matches = false};
  }
  return errors.empty() ? MatchResult() : Failed(Aggregated(errors));
}

}  // namespace apiserver::v0::admission::policy
