#include <utility>

#include "apiserver/flowcontrol/config.h"

// Follows k8s.io/apiserver/pkg/apis/flowcontrol/bootstrap/default.go as of Kubernetes 1.35.
namespace apiserver::v0::flowcontrol {

namespace {

using Distinguisher = FlowSchema::Distinguisher;

std::vector<std::string> Any() { return {"*"}; }

std::vector<Subject> Groups(std::vector<std::string> names) {
  std::vector<Subject> subjects;
  subjects.reserve(names.size());
  for (std::string& name : names) subjects.push_back({Subject::Kind::kGroup, std::move(name)});
  return subjects;
}

std::vector<Subject> Users(std::vector<std::string> names) {
  std::vector<Subject> subjects;
  subjects.reserve(names.size());
  for (std::string& name : names) subjects.push_back({Subject::Kind::kUser, std::move(name)});
  return subjects;
}

Subject KubeSystemServiceAccounts() { return {Subject::Kind::kServiceAccount, "*", "kube-system"}; }

std::vector<Subject> Everyone() {
  // Every user is in exactly one of these groups.
  return Groups({"system:unauthenticated", "system:authenticated"});
}

PolicyRulesWithSubjects Everything(std::vector<Subject> subjects) {
  return {.subjects = std::move(subjects),
          // The fourth member: requests without a namespace match too.
          .resource_rules = {{Any(), Any(), Any(), true, Any()}},
          .non_resource_rules = {{Any(), Any()}}};
}

// A schema with one rule, which all built-in schemas have.
FlowSchema BuiltInSchema(std::string name, std::string level, int precedence,
                         Distinguisher distinguisher, PolicyRulesWithSubjects rules) {
  return {.name = std::move(name),
          .uid = {},
          .priority_level = std::move(level),
          .matching_precedence = precedence,
          .distinguisher = distinguisher,
          .rules = {std::move(rules)}};
}

// Levels that queue; their nominal share of the server is `shares` over the sum of all levels'
// shares.
PriorityLevelConfiguration BuiltInLevel(std::string name, int shares, int lendable,
                                        QueuingConfiguration queuing) {
  return {.name = std::move(name),
          .uid = {},
          .nominal_concurrency_shares = shares,
          .lendable_percent = lendable,
          .borrowing_limit_percent = {},
          .queuing = queuing};
}

// Leases of leader election come first, since a controller that loses its lease starts over.
FlowSchema LeaderElection() {
  std::vector<Subject> subjects =
      Users({"system:kube-controller-manager", "system:kube-scheduler"});
  subjects.push_back(KubeSystemServiceAccounts());
  return BuiltInSchema(
      "system-leader-election", "leader-election", 100, Distinguisher::kByUser,
      {.subjects = std::move(subjects),
       .resource_rules =
           {{{"get", "create", "update"}, {"coordination.k8s.io"}, {"leases"}, false, Any()}},
       .non_resource_rules = {}});
}

// Heartbeats of nodes: a node that cannot renew its lease is taken for dead.
FlowSchema NodeHigh() {
  return BuiltInSchema(
      "system-node-high", "node-high", 400, Distinguisher::kByUser,
      {.subjects = Groups({"system:nodes"}),
       .resource_rules = {{Any(), {""}, {"nodes", "nodes/status"}, true, Any()},
                          {Any(), {"coordination.k8s.io"}, {"leases"}, false, Any()}},
       .non_resource_rules = {}});
}

// Probes never wait, or an overloaded server would be restarted.
FlowSchema Probes() {
  return BuiltInSchema("probes", "exempt", 2, Distinguisher::kNone,
                       {.subjects = Everyone(),
                        .resource_rules = {},
                        .non_resource_rules = {{{"get"}, {"/healthz", "/readyz", "/livez"}}}});
}

}  // namespace

Configuration MandatoryConfiguration() {
  // The catch-all level has no queues: its requests never wait, and are rejected if it has no seat
  // for them.
  return {.priority_levels = {{.name = std::string(kCatchAll),
                               .uid = {},
                               .nominal_concurrency_shares = 5,
                               .borrowing_limit_percent = {},
                               .queuing = {}},
                              {.name = std::string(kExempt),
                               .uid = {},
                               .exempt = true,
                               .nominal_concurrency_shares = 0,
                               .borrowing_limit_percent = {},
                               .queuing = {}}},
          .flow_schemas = {BuiltInSchema("exempt", "exempt", 1, Distinguisher::kNone,
                                         Everything(Groups({"system:masters"}))),
                           BuiltInSchema("catch-all", "catch-all", 10000, Distinguisher::kByUser,
                                         Everything(Everyone()))}};
}

Configuration SuggestedConfiguration() {
  constexpr auto kUser = Distinguisher::kByUser;
  constexpr auto kNamespace = Distinguisher::kByNamespace;
  return {
      .priority_levels = {BuiltInLevel("system", 30, 33, {64, 6, 50}),
                          BuiltInLevel("node-high", 40, 25, {64, 6, 50}),
                          BuiltInLevel("leader-election", 10, 0, {16, 4, 50}),
                          BuiltInLevel("workload-high", 40, 50, {128, 6, 50}),
                          BuiltInLevel("workload-low", 100, 90, {128, 6, 50}),
                          BuiltInLevel("global-default", 20, 50, {128, 6, 50})},
      .flow_schemas = {
          BuiltInSchema("system-nodes", "system", 500, kUser, Everything(Groups({"system:nodes"}))),
          NodeHigh(), Probes(), LeaderElection(),
          BuiltInSchema("kube-controller-manager", "workload-high", 800, kNamespace,
                        Everything(Users({"system:kube-controller-manager"}))),
          BuiltInSchema("kube-scheduler", "workload-high", 800, kNamespace,
                        Everything(Users({"system:kube-scheduler"}))),
          BuiltInSchema("kube-system-service-accounts", "workload-high", 900, kNamespace,
                        Everything({KubeSystemServiceAccounts()})),
          BuiltInSchema("service-accounts", "workload-low", 9000, kUser,
                        Everything(Groups({"system:serviceaccounts"}))),
          BuiltInSchema("global-default", "global-default", 9900, kUser, Everything(Everyone()))}};
}

Configuration BuiltInConfiguration() {
  Configuration all = MandatoryConfiguration();
  Configuration suggested = SuggestedConfiguration();
  for (auto& level : suggested.priority_levels) all.priority_levels.push_back(std::move(level));
  for (auto& schema : suggested.flow_schemas) all.flow_schemas.push_back(std::move(schema));
  return all;
}

}  // namespace apiserver::v0::flowcontrol
