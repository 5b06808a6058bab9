#include "admission/policy_metrics.h"

#include <vector>

namespace apiserver::v0::admission {

namespace {

// The names, texts and buckets are upstream's: dashboards depend on them.
const std::vector<double>& PolicyBuckets() {
  static const std::vector<double> buckets{0.0000005, 0.001, 0.01, 0.1, 1.0};
  return buckets;
}

double PolicySeconds(std::chrono::nanoseconds took) {
  return std::chrono::duration<double>(took).count();
}

}  // namespace

PolicyMetrics::PolicyMetrics(metrics::Registry& registry)
    : condition_errors_(registry.Counters(
          {.name = "apiserver_admission_match_condition_evaluation_errors_total",
           .help = "[ALPHA] Admission match condition evaluation errors count, identified by name "
                   "of resource containing the match condition and broken out for each kind "
                   "containing matchConditions (webhook or policy), operation and admission type "
                   "(validate or admit).",
           .labels = {"name", "kind", "type", "operation"}})),
      condition_exclusions_(registry.Counters(
          {.name = "apiserver_admission_match_condition_exclusions_total",
           .help = "[ALPHA] Admission match condition evaluation exclusions count, identified by "
                   "name of resource containing the match condition and broken out for each kind "
                   "containing matchConditions (webhook or policy), operation and admission type "
                   "(validate or admit).",
           .labels = {"name", "kind", "type", "operation"}})),
      condition_seconds_(registry.Histograms(
          {.name = "apiserver_admission_match_condition_evaluation_seconds",
           .help = "[ALPHA] Admission match condition evaluation time in seconds, identified by "
                   "name and broken out for each kind containing matchConditions (webhook or "
                   "policy), operation and type (validate or admit).",
           .labels = {"name", "kind", "type", "operation"}},
          {0.001, 0.005, 0.01, 0.025, 0.1, 0.2, 0.25})),
      validating_checks_(registry.Counters(
          {.name = "apiserver_validating_admission_policy_check_total",
           .help = "[BETA] Validation admission policy check total, labeled by policy and further "
                   "identified by binding and enforcement action taken.",
           .labels = {"policy", "policy_binding", "error_type", "enforcement_action"}})),
      validating_seconds_(registry.Histograms(
          {.name = "apiserver_validating_admission_policy_check_duration_seconds",
           .help = "[BETA] Validation admission latency for individual validation expressions in "
                   "seconds, labeled by policy and further including binding and enforcement "
                   "action taken.",
           .labels = {"policy", "policy_binding", "error_type", "enforcement_action"}},
          PolicyBuckets())),
      mutating_checks_(registry.Counters(
          {.name = "apiserver_mutating_admission_policy_check_total",
           .help = "[ALPHA] Mutation admission policy check total, labeled by policy and further "
                   "identified by binding.",
           .labels = {"policy", "policy_binding", "error_type"}})),
      mutating_seconds_(registry.Histograms(
          {.name = "apiserver_mutating_admission_policy_check_duration_seconds",
           .help = "[ALPHA] Mutation admission latency for individual mutation expressions in "
                   "seconds, labeled by policy and binding.",
           .labels = {"policy", "policy_binding", "error_type"}},
          PolicyBuckets())) {}

void PolicyMetrics::ObserveConditionError(const MatchConditionLabels& labels) {
  condition_errors_.With({labels.name, labels.kind, labels.type, OperationName(labels.operation)})
      .Add();
}

void PolicyMetrics::ObserveConditionExclusion(const MatchConditionLabels& labels) {
  condition_exclusions_
      .With({labels.name, labels.kind, labels.type, OperationName(labels.operation)})
      .Add();
}

void PolicyMetrics::ObserveConditionTime(const MatchConditionLabels& labels,
                                         std::chrono::nanoseconds took) {
  condition_seconds_.With({labels.name, labels.kind, labels.type, OperationName(labels.operation)})
      .Observe(PolicySeconds(took));
}

void PolicyMetrics::ObserveValidating(const PolicyOutcome& outcome) {
  const auto labels = {outcome.policy, outcome.binding, outcome.error_type, outcome.action};
  validating_checks_.With(labels).Add();
  validating_seconds_.With(labels).Observe(PolicySeconds(outcome.took));
}

void PolicyMetrics::ObserveMutating(const PolicyOutcome& outcome) {
  const auto labels = {outcome.policy, outcome.binding, outcome.error_type};
  mutating_checks_.With(labels).Add();
  mutating_seconds_.With(labels).Observe(PolicySeconds(outcome.took));
}

}  // namespace apiserver::v0::admission
