#include "apiserver/authz/escalation.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "authz/asking.h"

namespace {

using apiserver::Context;
namespace rbac = apiserver::authz::rbac;
using Rules = std::vector<rbac::PolicyRule>;
using Names = std::vector<std::string>;

rbac::PolicyRule Rule(Names groups, Names verbs, Names resources, Names names = {}) {
  return {.verbs = std::move(verbs),
          .api_groups = std::move(groups),
          .resources = std::move(resources),
          .resource_names = std::move(names)};
}
rbac::PolicyRule Url(Names urls, Names verbs) {
  return {.verbs = std::move(verbs), .non_resource_urls = std::move(urls)};
}

// policy_comparator_test.go, TestCovers*, in its order, and what the name says.
struct Row {
  std::string test;
  Rules held;
  Rules wanted;
  Rules missing;
};

void Check(const std::vector<Row>& rows) {
  for (const Row& row : rows) {
    INFO(row.test);
    CHECK(rbac::NotCovered(row.held, row.wanted) == row.missing);
    CHECK(rbac::Covers(row.held, row.wanted) == row.missing.empty());
  }
}

TEST_CASE("authz: rules that are held cover what they allow together", "[authz]") {
  const Names two{"builds", "deployments"};
  Check(
      {{"ExactMatch", {Rule({"v1"}, {"get"}, {"builds"})}, {Rule({"v1"}, {"get"}, {"builds"})}, {}},
       {"SubresourceWildcard",
        {Rule({"v1"}, {"get"}, {"*/scale"})},
        {Rule({"v1"}, {"get"}, {"foo/scale"})},
        {}},
       {"MultipleRulesCoveringSingleRule",
        {Rule({"v1"}, {"delete"}, {"deployments"}), Rule({"v1"}, {"delete"}, {"builds"}),
         Rule({"v1"}, {"update"}, two)},
        {Rule({"v1"}, {"delete", "update"}, two)},
        {}},
       {"MultipleAPIGroupsCoveringSingleRule",
        {Rule({"group1"}, {"delete"}, {"deployments"}), Rule({"group1"}, {"delete"}, {"builds"}),
         Rule({"group1"}, {"update"}, two), Rule({"group2"}, {"delete"}, {"deployments"}),
         Rule({"group2"}, {"delete"}, {"builds"}), Rule({"group2"}, {"update"}, two)},
        {Rule({"group1", "group2"}, {"delete", "update"}, two)},
        {}},
       {"SingleAPIGroupsCoveringMultiple",
        {Rule({"group1", "group2"}, {"delete", "update"}, two)},
        {Rule({"group1"}, {"delete"}, {"deployments"}), Rule({"group1"}, {"delete"}, {"builds"}),
         Rule({"group1"}, {"update"}, two), Rule({"group2"}, {"delete"}, {"deployments"}),
         Rule({"group2"}, {"delete"}, {"builds"}), Rule({"group2"}, {"update"}, two)},
        {}},
       {"MultipleRulesMissingSingleVerbResourceCombination",
        {Rule({"v1"}, {"delete", "update"}, two), Rule({"v1"}, {"delete"}, {"pods"})},
        {Rule({"v1"}, {"delete", "update"}, {"builds", "deployments", "pods"})},
        {Rule({"v1"}, {"update"}, {"pods"})}}});
}

TEST_CASE("authz: a star that is held covers, a star that is wanted must be held", "[authz]") {
  Check({{"APIGroupStarCoveringMultiple",
          {Rule({"*"}, {"get"}, {"roles"})},
          {Rule({"group1", "group2"}, {"get"}, {"roles"})},
          {}},
         {"EnumerationNotCoveringAPIGroupStar",
          {Rule({"dummy-group"}, {"get"}, {"roles"})},
          {Rule({"*"}, {"get"}, {"roles"})},
          {Rule({"*"}, {"get"}, {"roles"})}},
         {"APIGroupStarCoveringStar",
          {Rule({"*"}, {"get"}, {"roles"})},
          {Rule({"*"}, {"get"}, {"roles"})},
          {}},
         {"VerbStarCoveringMultiple",
          {Rule({"v1"}, {"*"}, {"roles"})},
          {Rule({"v1"}, {"watch", "list"}, {"roles"})},
          {}},
         {"EnumerationNotCoveringVerbStar",
          {Rule({"v1"}, {"get", "list", "watch", "create", "update", "delete", "exec"}, {"roles"})},
          {Rule({"v1"}, {"*"}, {"roles"})},
          {Rule({"v1"}, {"*"}, {"roles"})}},
         {"VerbStarCoveringStar",
          {Rule({"v1"}, {"*"}, {"roles"})},
          {Rule({"v1"}, {"*"}, {"roles"})},
          {}},
         {"ResourceStarCoveringMultiple",
          {Rule({"v1"}, {"get"}, {"*"})},
          {Rule({"v1"}, {"get"}, {"resourcegroup:deployments"})},
          {}},
         {"EnumerationNotCoveringResourceStar",
          {Rule({"v1"}, {"get"}, {"roles", "resourcegroup:deployments"})},
          {Rule({"v1"}, {"get"}, {"*"})},
          {Rule({"v1"}, {"get"}, {"*"})}},
         {"ResourceStarCoveringStar",
          {Rule({"v1"}, {"get"}, {"*"})},
          {Rule({"v1"}, {"get"}, {"*"})},
          {}},
         {"ResourceNameEmptyCoveringMultiple",
          {Rule({"v1"}, {"get"}, {"pods"})},
          {Rule({"v1"}, {"get"}, {"pods"}, {"foo", "bar"})},
          {}},
         {"EnumerationNotCoveringResourceNameEmpty",
          {Rule({"v1"}, {"get"}, {"pods"}, {"foo", "bar"})},
          {Rule({"v1"}, {"get"}, {"pods"})},
          {Rule({"v1"}, {"get"}, {"pods"})}}});
}

TEST_CASE("authz: URLs that are held cover what they stand for", "[authz]") {
  rbac::PolicyRule both = Rule({"v1"}, {"get"}, {"builds"});
  both.non_resource_urls = {"/apis"};
  Check({{"NonResourceURLs", {Url({"/apis"}, {"*"})}, {Url({"/apis"}, {"*"})}, {}},
         {"NonResourceURLsStar", {Url({"*"}, {"*"})}, {Url({"/apis", "/apis/v1", "/"}, {"*"})}, {}},
         {"NonResourceURLsStarAfterPrefixDoesntCover",
          {Url({"/apis/*"}, {"*"})},
          {Url({"/apis", "/apis/v1"}, {"get"})},
          {Url({"/apis"}, {"get"})}},
         {"NonResourceURLsStarAfterPrefix",
          {Url({"/apis/*"}, {"*"})},
          {Url({"/apis/v1/foo", "/apis/v1"}, {"get"})},
          {}},
         {"NonResourceURLsWithOtherFields", {both}, {both}, {}},
         {"NonResourceURLsWithOtherFieldsFailure",
          {Rule({"v1"}, {"get"}, {"builds"})},
          {both},
          {Url({"/apis"}, {"get"})}},
         // Beyond upstream's table.
         {"nothing covers nothing else",
          {},
          {both},
          {Rule({"v1"}, {"get"}, {"builds"}), Url({"/apis"}, {"get"})}},
         {"another name",
          {Rule({""}, {"get"}, {"pods"}, {"a"})},
          {Rule({""}, {"get"}, {"pods"}, {"a", "b"})},
          {Rule({""}, {"get"}, {"pods"}, {"b"})}},
         {"another subresource",
          {Rule({""}, {"get"}, {"*/scale"})},
          {Rule({""}, {"get"}, {"pods/log"})},
          {Rule({""}, {"get"}, {"pods/log"})}}});
}

// policy_comparator_test.go TestNonResourceURLCovers.
TEST_CASE("authz: a URL of a rule covers what its star stands for", "[authz]") {
  struct Row {
    std::string held;
    std::string wanted;
    bool covered;
  };
  const std::vector<Row> rows{{"*", "", true},
                              {"*", "/", true},
                              {"*", "/api", true},
                              {"/*", "", false},
                              {"/*", "/", true},
                              {"/*", "/foo", true},
                              {"/api", "/api", true},
                              {"/apis", "/api", false},
                              {"/api/v1", "/api", false},
                              {"/api/v1", "/api/v1", true},
                              {"/api/*", "/api/v1", true},
                              {"/api/*", "/api", false},
                              {"/api/*/*", "/api/v1", false},
                              {"/*/v1/*", "/api/v1", false}};
  for (const Row& row : rows) {
    INFO(row.held << " and " << row.wanted);
    CHECK(rbac::Covers({Url({row.held}, {"get"})}, {Url({row.wanted}, {"get"})}) == row.covered);
    CHECK(rbac::RuleAllows({.user = asking::User("x"), .verb = "get", .path = row.wanted},
                           Url({row.held}, {"get"})) == row.covered);
  }
}

// policy_compact_test.go TestCompactRules and TestIsSimpleResourceRule, in parts.
TEST_CASE("authz: rules about one resource become one", "[authz]") {
  CHECK(rbac::CompactRules({Rule({""}, {"get"}, {"builds"}), Rule({""}, {"list"}, {"builds"}),
                            Rule({""}, {"update"}, {"pods"}), Rule({"x"}, {"get"}, {"builds"}),
                            Rule({""}, {"patch"}, {"builds"}, {"a"}),
                            Rule({""}, {"watch"}, {"builds"}, {"a"})}) ==
        Rules{Rule({""}, {"get", "list"}, {"builds"}), Rule({""}, {"update"}, {"pods"}),
              Rule({"x"}, {"get"}, {"builds"}), Rule({""}, {"patch", "watch"}, {"builds"}, {"a"})});
  const Rules complex{Rule({"", "x"}, {"get"}, {"builds"}), Rule({"", "x"}, {"list"}, {"builds"}),
                      Rule({""}, {"get"}, {"builds", "pods"}),
                      Rule({""}, {"get"}, {"builds"}, {"a", "b"}), Url({"/"}, {"get"})};
  CHECK(rbac::CompactRules(complex) == complex);
}

// evaluation_helpers_test.go TestCompactString and the like.
TEST_CASE("authz: a rule is printed as kubectl users know it", "[authz]") {
  CHECK(rbac::CompactString({}) == "{}");
  CHECK(
      rbac::CompactString(Rule({"", "apps"}, {"get", "list"}, {"pods"}, {"a"})) ==
      R"({APIGroups:["" "apps"], Resources:["pods"], ResourceNames:["a"], Verbs:["get" "list"]})");
  CHECK(rbac::CompactString(Url({"/healthz"}, {"get"})) ==
        R"({NonResourceURLs:["/healthz"], Verbs:["get"]})");
}

TEST_CASE("authz: nobody gives away what she does not hold", "[authz]") {
  const auto authorizer = rbac::NewRbacAuthorizer();
  authorizer->Upsert(rbac::Role{"", "reader", {Rule({""}, {"get", "list"}, {"pods"})}});
  authorizer->Upsert(rbac::Binding{"ns", "b", {"ClusterRole", "reader"}, {{"User", "jane"}}});
  const auto jane = asking::User("jane", {"devs"});
  const Rules wanted{Rule({""}, {"get"}, {"pods"})};
  CHECK(rbac::ConfirmNoEscalation(Context::Background(), *authorizer, *jane, "ns", wanted).ok());
  // She holds it there alone.
  CHECK(
      rbac::ConfirmNoEscalation(Context::Background(), *authorizer, *jane, "", wanted).message() ==
      "user \"jane\" (groups=[\"devs\"]) is attempting to grant RBAC permissions not currently "
      "held:\n{APIGroups:[\"\"], Resources:[\"pods\"], Verbs:[\"get\"]}");
  authorizer->Upsert(rbac::Binding{"ns", "c", {"Role", "gone"}, {{"Group", "devs"}}});
  CHECK(rbac::ConfirmNoEscalation(Context::Background(), *authorizer, *jane, "ns", wanted).ok());
  CHECK(rbac::ConfirmNoEscalation(
            Context::Background(), *authorizer, *jane, "ns",
            {Rule({""}, {"delete", "get", "update"}, {"pods"}), Rule({"a"}, {"get"}, {"b"})})
            .message() ==
        "user \"jane\" (groups=[\"devs\"]) is attempting to grant RBAC permissions not currently "
        "held:\n{APIGroups:[\"\"], Resources:[\"pods\"], Verbs:[\"delete\" \"update\"]}\n"
        "{APIGroups:[\"a\"], Resources:[\"b\"], Verbs:[\"get\"]}; resolution errors: "
        "[role.rbac.authorization.k8s.io \"gone\" not found]");
}

}  // namespace
