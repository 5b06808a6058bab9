#include "flowcontrol/rule.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "apiserver/flowcontrol/config.h"

namespace apiserver::inline v0::flowcontrol {

namespace {

using Kind = Subject::Kind;
using Names = std::vector<std::string>;

auth::UserInfo GoodUser() { return {.name = "goodu", .uid = "1", .groups = {"goodg1", "goodg2"}}; }

request::RequestInfo Namespaced() {
  return {.is_resource_request = true,
          .path = "/apis/goodapig/v1/namespaces/goodns/goodrscs",
          .verb = "goodverb",
          .api_prefix = "apis",
          .api_group = "goodapig",
          .api_version = "v1",
          .namespace_ = "goodns",
          .resource = "goodrscs",
          .name = "eman"};
}

request::RequestInfo ClusterScoped() {
  request::RequestInfo info = Namespaced();
  info.path = "/apis/goodapig/v1/goodrscs";
  info.namespace_ = "";
  return info;
}

request::RequestInfo NonResource(std::string_view path = "/openapi/v2") {
  return {.is_resource_request = false, .path = path, .verb = "goodverb"};
}

// A rule that matches Namespaced() by GoodUser(), to be changed by a case.
PolicyRulesWithSubjects GoodRule() {
  return {.subjects = {{Kind::kUser, "goodu"}},
          .resource_rules = {{.verbs = {"goodverb"},
                              .api_groups = {"goodapig"},
                              .resources = {"goodrscs"},
                              .namespaces = {"goodns"}}},
          .non_resource_rules = {}};
}

PolicyRulesWithSubjects With(std::vector<Subject> subjects) {
  PolicyRulesWithSubjects rule = GoodRule();
  rule.subjects = std::move(subjects);
  return rule;
}

PolicyRulesWithSubjects With(Names ResourcePolicyRule::*field, Names value) {
  PolicyRulesWithSubjects rule = GoodRule();
  rule.resource_rules[0].*field = std::move(value);
  return rule;
}

PolicyRulesWithSubjects WithCluster(Names ResourcePolicyRule::*field, Names value,
                                    bool cluster_scope = true) {
  PolicyRulesWithSubjects rule = With(field, std::move(value));
  rule.resource_rules[0].cluster_scope = cluster_scope;
  rule.resource_rules[0].namespaces.clear();
  return rule;
}

PolicyRulesWithSubjects ForPaths(Names verbs, Names paths) {
  return {.subjects = {{Kind::kUser, "goodu"}},
          .resource_rules = {},
          .non_resource_rules = {{std::move(verbs), std::move(paths)}}};
}

void Check(bool expected, const request::RequestInfo& info,
           const std::vector<PolicyRulesWithSubjects>& rules) {
  for (std::size_t i = 0; i < rules.size(); ++i) {
    CAPTURE(i, info.path, expected);
    FlowSchema schema;
    schema.rules = {rules[i]};
    CHECK(Matches(schema, info, GoodUser()) == expected);
  }
}

}  // namespace

// match_test.go: TestLiterals, requests in a namespace.
TEST_CASE("flowcontrol: a rule matches resources in namespaces", "[flowcontrol]") {
  using R = ResourcePolicyRule;
  Check(true, Namespaced(),
        {GoodRule(), With({{Kind::kGroup, "goodg1"}}), With({{Kind::kUser, "*"}}),
         With({{Kind::kGroup, "*"}}), With(&R::verbs, {"*"}), With(&R::api_groups, {"*"}),
         With(&R::resources, {"*"}), With(&R::namespaces, {"*"})});
  Check(false, Namespaced(),
        {With({{Kind::kUser, "badu"}}), With({{Kind::kGroup, "badg"}}),
         With(&R::verbs, {"badverb"}), With(&R::api_groups, {"badapig"}),
         With(&R::resources, {"badrscs"}), With(&R::namespaces, {"badns"})});
}

// TestLiterals, requests without a namespace.
TEST_CASE("flowcontrol: a rule matches requests of a cluster's scope if it says so",
          "[flowcontrol]") {
  using R = ResourcePolicyRule;
  Check(true, ClusterScoped(),
        {WithCluster(&R::verbs, {"goodverb"}), WithCluster(&R::verbs, {"*"}),
         WithCluster(&R::api_groups, {"*"}), WithCluster(&R::resources, {"*"})});
  Check(false, ClusterScoped(),
        {WithCluster(&R::verbs, {"badverb"}), WithCluster(&R::api_groups, {"badapig"}),
         WithCluster(&R::resources, {"badrscs"}),
         WithCluster(&R::verbs, {"goodverb"}, /*cluster_scope=*/false)});
}

// TestLiterals, requests for no resource.
TEST_CASE("flowcontrol: a rule matches paths", "[flowcontrol]") {
  Check(true, NonResource(),
        {ForPaths({"goodverb"}, {"/openapi/v2"}), ForPaths({"*"}, {"/openapi/v2"}),
         ForPaths({"goodverb"}, {"*"})});
  Check(false, NonResource(),
        {ForPaths({"badverb"}, {"/openapi/v2"}), ForPaths({"goodverb"}, {"/closedapi/v2"})});
}

// As matchPolicyRuleNonResourceURL reads them.
TEST_CASE("flowcontrol: a path in a rule stands for what is below it too", "[flowcontrol]") {
  const std::vector<PolicyRulesWithSubjects> rules = {
      ForPaths({"*"}, {"/metrics"}), ForPaths({"*"}, {"/metrics/"}),
      ForPaths({"*"}, {"/metrics/*"}), ForPaths({"*"}, {"/metrics*"})};
  Check(true, NonResource("/metrics/slis"), rules);
  Check(false, NonResource("/metricsx"), rules);
  Check(true, NonResource("/metrics"), {ForPaths({"*"}, {"/metrics"})});
  Check(false, NonResource("/metrics"), {ForPaths({"*"}, {"/metrics/*"})});
}

TEST_CASE("flowcontrol: a subresource is matched with its resource only", "[flowcontrol]") {
  using R = ResourcePolicyRule;
  request::RequestInfo info = Namespaced();
  info.subresource = "status";
  Check(true, info, {With(&R::resources, {"goodrscs/status"}), With(&R::resources, {"*"})});
  Check(false, info,
        {GoodRule(), With(&R::resources, {"status"}), With(&R::resources, {"goodrscs-status"}),
         With(&R::resources, {"goodrscs/scale"})});
}

TEST_CASE("flowcontrol: a service account is matched by namespace and name", "[flowcontrol]") {
  const auth::UserInfo account{.name = "system:serviceaccount:ns1:robot"};
  const auto matches = [&account](std::string namespace_, std::string name) {
    return Matches(With({{Kind::kServiceAccount, std::move(name), std::move(namespace_)}}),
                   Namespaced(), account);
  };
  CHECK(matches("ns1", "robot"));
  CHECK(matches("ns1", "*"));
  CHECK_FALSE(matches("ns1", "robo"));
  CHECK_FALSE(matches("ns", "*"));
  CHECK_FALSE(matches("ns12", "*"));
  CHECK_FALSE(matches("ns1:robot", "*"));
}

// bootstrap/default_test.go: what each built-in schema is for.
TEST_CASE("flowcontrol: the built-in schemas sort the clients of a cluster", "[flowcontrol]") {
  Configuration built_in = BuiltInConfiguration();
  const auto schema_for = [&built_in](const auth::UserInfo& user,
                                      const request::RequestInfo& info) {
    const FlowSchema* best = nullptr;
    for (const FlowSchema& each : built_in.flow_schemas) {
      if (!Matches(each, info, user)) continue;
      if (!best || each.matching_precedence < best->matching_precedence) best = &each;
    }
    return best ? best->name : "";
  };
  request::RequestInfo pods = Namespaced();
  pods.verb = "list";
  pods.api_group = "";
  pods.resource = "pods";
  request::RequestInfo leases = Namespaced();
  leases.verb = "update";
  leases.api_group = "coordination.k8s.io";
  leases.resource = "leases";
  request::RequestInfo probe = NonResource("/livez");
  probe.verb = "get";
  const auto user = [](std::string name, Names groups) {
    groups.emplace_back("system:authenticated");
    return auth::UserInfo{.name = std::move(name), .groups = std::move(groups)};
  };
  CHECK(schema_for(user("root", {"system:masters"}), pods) == "exempt");
  CHECK(schema_for(user("jane", {}), probe) == "probes");
  CHECK(schema_for(user("system:kube-scheduler", {}), leases) == "system-leader-election");
  CHECK(schema_for(user("system:node:a", {"system:nodes"}), leases) == "system-node-high");
  CHECK(schema_for(user("system:node:a", {"system:nodes"}), pods) == "system-nodes");
  CHECK(schema_for(user("system:kube-controller-manager", {}), pods) == "kube-controller-manager");
  CHECK(schema_for(user("system:kube-scheduler", {}), pods) == "kube-scheduler");
  CHECK(schema_for(user("system:serviceaccount:kube-system:x", {"system:serviceaccounts"}), pods) ==
        "kube-system-service-accounts");
  CHECK(schema_for(user("system:serviceaccount:a:x", {"system:serviceaccounts"}), pods) ==
        "service-accounts");
  CHECK(schema_for(user("jane", {}), pods) == "global-default");
  CHECK(schema_for({.name = "nobody", .groups = {}}, pods).empty());
}

}  // namespace apiserver::inline v0::flowcontrol
