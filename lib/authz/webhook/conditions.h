#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "apiserver/auth/authorizer.h"
#include "apiserver/base/context.h"
#include "apiserver/base/field_path.h"
#include "apiserver/base/metrics.h"

// The matchConditions of authorization webhooks: k8s.io/apiserver/pkg/authorization/cel.
namespace apiserver::inline v0::authz {

// The outcome of the conditions for one request.
struct ConditionOutcome {
  bool matches = true;
  // Not empty: some conditions failed, and none was false. failurePolicy decides.
  std::string error = {};
};

// Compiled conditions. Immutable; any thread. Evaluating them never blocks.
class AccessConditions {
 public:
  virtual ~AccessConditions() = default;
  // Evaluates the conditions in order; one that is false ends it.
  virtual ConditionOutcome Evaluate(const Context& ctx, const auth::Attributes& asked) const = 0;
};

// Compiles the expressions, whose variable `request` is a SubjectAccessReviewSpec of v1, and
// appends their faults to `errors`, at `path` and an index. Null: there is nothing to evaluate.
std::shared_ptr<const AccessConditions> CompileAccessConditions(
    const std::vector<std::string>& expressions, const field::Path& path, field::ErrorList& errors);

// Counts apiserver_authorization_match_condition_* of one authorizer. Any thread.
class ConditionMetrics {
 public:
  // `registry` null: counts nothing. `name` is that of the authorizer, a webhook.
  ConditionMetrics(metrics::Registry* registry, std::string name);
  void Observe(const ConditionOutcome& outcome, std::chrono::nanoseconds took) const;

 private:
  const std::string name_;
  metrics::Family<metrics::Counter>* errors_ = nullptr;
  metrics::Family<metrics::Counter>* exclusions_ = nullptr;
  metrics::Family<metrics::Histogram>* seconds_ = nullptr;
};

}  // namespace apiserver::inline v0::authz
