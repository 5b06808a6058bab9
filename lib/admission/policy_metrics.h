#pragma once

#include <chrono>
#include <string_view>

#include "apiserver/admission/admission.h"
#include "apiserver/base/metrics.h"

namespace apiserver::inline v0::admission {

// The labels of match conditions.
struct MatchConditionLabels {
  std::string_view name;  // The policy or webhook that has them.
  std::string_view kind;  // "policy" or "webhook".
  std::string_view type;  // "validate", "admit" or "validating".
  Operation operation = Operation::kCreate;
};

// The outcome of one expression of a policy.
struct PolicyOutcome {
  std::string_view policy;
  std::string_view binding;
  std::string_view error_type;   // "no_error", "compile_error", "out_of_budget", "invalid_error".
  std::string_view action = {};  // "allow", "deny", "audit" or "warn"; for validating policies.
  std::chrono::nanoseconds took{0};
};

// The metrics apiserver_admission_match_condition_* and
// apiserver_{validating,mutating}_admission_policy_*, with the names and buckets of
// pkg/admission/metrics and plugin/policy/*/metrics. Any thread.
class PolicyMetrics {
 public:
  explicit PolicyMetrics(metrics::Registry& registry);

  void ObserveConditionError(const MatchConditionLabels& labels);
  void ObserveConditionExclusion(const MatchConditionLabels& labels);
  void ObserveConditionTime(const MatchConditionLabels& labels, std::chrono::nanoseconds took);
  void ObserveValidating(const PolicyOutcome& outcome);
  void ObserveMutating(const PolicyOutcome& outcome);

 private:
  metrics::Family<metrics::Counter>& condition_errors_;
  metrics::Family<metrics::Counter>& condition_exclusions_;
  metrics::Family<metrics::Histogram>& condition_seconds_;
  metrics::Family<metrics::Counter>& validating_checks_;
  metrics::Family<metrics::Histogram>& validating_seconds_;
  metrics::Family<metrics::Counter>& mutating_checks_;
  metrics::Family<metrics::Histogram>& mutating_seconds_;
};

}  // namespace apiserver::inline v0::admission
