#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "admission/metrics.h"
#include "admission/policy/expressions.h"

// The matchConditions of policies and webhooks:
// k8s.io/apiserver/pkg/admission/plugin/webhook/matchconditions.
namespace apiserver::inline v0::admission::policy {

// The outcome of match conditions.
struct MatchResult {
  bool matches = true;
  std::string error = {};  // Not empty: the conditions failed, and the failure policy is Fail.
};

// The configuration of a MatchConditions.
struct MatchConditionsOptions {
  ExpressionListPtr conditions = nullptr;  // Null: there are none, and every request matches.
  bool fail_open = false;                  // failurePolicy: Ignore.
  std::string name = {};                   // The policy or webhook, for metrics.
  std::string_view kind = "policy";        // "policy" or "webhook", for metrics.
  std::string_view type = "validate";      // "validate", "admit" or "validating", for metrics.
  bool asks_authorizer = false;            // A condition reads `authorizer`.
};

// Conditions that a request must meet. Immutable; any thread that may block.
class MatchConditions {
 public:
  explicit MatchConditions(MatchConditionsOptions options) : options_(std::move(options)) {}

  // Tells if an evaluation may ask the authorizer.
  bool asks_authorizer() const { return options_.asks_authorizer; }
  // Evaluates the conditions. One that is false skips the request whatever else failed; otherwise
  // the failure policy decides about errors. `metrics` may be null.
  MatchResult Match(const Context& ctx, const Variables& variables, Metrics* metrics) const;

 private:
  MatchResult Evaluate(const Context& ctx, const Variables& variables, Metrics* metrics,
                       const MatchConditionLabels& labels) const;
  // Returns the result of a failure, as the failure policy decides.
  MatchResult Failed(std::string error) const;

  const MatchConditionsOptions options_;
};

}  // namespace apiserver::inline v0::admission::policy
