#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <vector>

#include "apiserver/codec/codec.h"
#include "apiserver/groups/rbac.h"
#include "groups/rbac/aggregation.h"

namespace {

namespace rbac = apiserver::groups::rbac;
using apiserver::authz::rbac::PolicyRule;
using apiserver::runtime::ObjectPtr;
using Rules = std::vector<PolicyRule>;

ObjectPtr ClusterRole(const std::string& json) {
  static const auto kinds = rbac::Kinds();
  REQUIRE(kinds.ok());
  auto decoded = apiserver::codec::DecodeObject(apiserver::codec::MediaType::kJson,
                                                std::make_shared<const std::string>(json),
                                                {.kind = kinds->front(), .version = "v1"});
  INFO(decoded.status().ToString());
  REQUIRE(decoded.ok());
  return std::move(decoded->object);
}

// A role that aggregates what has one of `labels`, and one with labels and a rule about `resource`.
ObjectPtr Combined(const std::string& name, const std::vector<std::string>& labels) {
  std::string selectors;
  for (const std::string& label : labels) {
    if (!selectors.empty()) selectors += ",";
    selectors += R"({"matchLabels":{)" + label + "}}";
  }
  return ClusterRole(R"({"metadata":{"name":")" + name + R"("},"aggregationRule":)" +
                     R"({"clusterRoleSelectors":[)" + selectors + "]}}");
}
ObjectPtr Part(const std::string& name, const std::string& labels, const std::string& resource) {
  return ClusterRole(R"({"metadata":{"name":")" + name + R"(","labels":{)" + labels +
                     R"(}},"rules":[{"verbs":["get"],"apiGroups":[""],"resources":[")" + resource +
                     R"("]}]})");
}
PolicyRule Get(const std::string& resource) {
  return {.verbs = {"get"}, .api_groups = {""}, .resources = {resource}};
}

// clusterroleaggregation_controller_test.go TestSyncClusterRole.
TEST_CASE("groups: a cluster role has the rules of those that its selectors fit", "[groups]") {
  const std::string foo = R"("foo":"bar")";
  const std::string baz = R"("baz":"boo")";
  struct Row {
    std::string test;
    std::vector<ObjectPtr> roles;  // The first is asked for.
    Rules expected;
  };
  const std::vector<Row> rows{
      {"no match", {Combined("combined", {foo}), Part("other", baz, "x")}, {}},
      {"first match",
       {Combined("combined", {foo}), Part("hammer", foo, "hammer")},
       {Get("hammer")}},
      {"two selectors, in their order, then by name",
       {Combined("combined", {foo, baz}), Part("chisel", baz, "chisel"),
        Part("hammer", foo, "hammer"), Part("anvil", foo, "anvil")},
       {Get("anvil"), Get("hammer"), Get("chisel")}},
      {"both selectors fit, the rule is there once",
       {Combined("combined", {foo, baz}), Part("hammer", foo + "," + baz, "hammer"),
        Part("same", baz, "hammer")},
       {Get("hammer")}},
      {"not itself", {Combined("combined", {})}, {}},
  };
  for (const Row& row : rows) {
    INFO(row.test);
    rbac::ClusterRoles all;
    for (const ObjectPtr& role : row.roles) all[std::string(role->name())] = role;
    const auto rules = rbac::AggregatedRules(*row.roles.front(), all);
    REQUIRE(rules.ok());
    CHECK(*rules == row.expected);
  }
}

TEST_CASE("groups: an empty selector aggregates all but the role itself", "[groups]") {
  const auto all_of_them =
      ClusterRole(R"({"metadata":{"name":"all"},"aggregationRule":{"clusterRoleSelectors":[{}]},)"
                  R"("rules":[{"verbs":["get"],"apiGroups":[""],"resources":["own"]}]})");
  const rbac::ClusterRoles all{
      {"all", all_of_them}, {"a", Part("a", "", "a")}, {"b", Part("b", R"("x":"y")", "b")}};
  CHECK(rbac::AggregatedRules(*all_of_them, all).value() == Rules{Get("a"), Get("b")});
}

TEST_CASE("groups: a selector by expressions aggregates what fits", "[groups]") {
  const auto role = ClusterRole(
      R"({"metadata":{"name":"r"},"aggregationRule":{"clusterRoleSelectors":[{"matchExpressions":)"
      R"([{"key":"x","operator":"In","values":["b","a"]},)"
      R"({"key":"y","operator":"DoesNotExist"}]}]}})");
  const rbac::ClusterRoles all{{"r", role},
                               {"1", Part("1", R"("x":"a")", "one")},
                               {"2", Part("2", R"("x":"c")", "two")},
                               {"3", Part("3", R"("x":"b","y":"")", "three")}};
  CHECK(rbac::AggregatedRules(*role, all).value() == Rules{Get("one")});
}

}  // namespace
