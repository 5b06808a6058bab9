#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <vector>

#include "apiserver/groups/rbac.h"
#include "groups/rbac/validation.h"
#include "groups/validation_rows.h"

namespace {

namespace rbac = apiserver::groups::rbac;
using apiserver::field::ErrorList;
using apiserver::runtime::ObjectPtr;
using apiserver::testing::Findings;
using apiserver::testing::Lines;

ObjectPtr ParseRbac(const std::string& kind_name, const std::string& json) {
  return apiserver::testing::ParseRow(rbac::Kinds(), kind_name, json);
}

struct RbacRow {
  std::string what;
  std::string object;
  Lines findings = {};
};

const std::string kName = R"("metadata":{"name":"master"},)";
const std::string kPlaced = R"("metadata":{"namespace":"default","name":"master"},)";

std::string Ref(const std::string& kind, const std::string& name = "valid") {
  return R"("roleRef":{"kind":")" + kind + R"(","name":")" + name + R"("})";
}
std::string Subjects(const std::string& subjects) { return R"(,"subjects":[)" + subjects + "]"; }

// validation_test.go TestValidateClusterRoleBinding.
TEST_CASE("groups: cluster role bindings are refused as a Go server refuses them", "[groups]") {
  const std::string ref = Ref("ClusterRole");
  const std::vector<RbacRow> rows{
      {"valid", kName + ref +
                    Subjects(R"({"name":"validsaname","namespace":"foo","kind":"ServiceAccount"},)"
                             R"({"name":"valid@username","kind":"User"},)"
                             R"({"name":"valid@groupname","kind":"Group"})")},
      {"bad group",
       kName + R"("roleRef":{"apiGroup":"rbac.GroupName","kind":"ClusterRole","name":"valid"})",
       {"FieldValueNotSupported roleRef.apiGroup"}},
      {"bad kind", kName + Ref("Type"), {"FieldValueNotSupported roleRef.kind"}},
      {"reference role", kName + Ref("Role"), {"FieldValueNotSupported roleRef.kind"}},
      {"zero-length name", ref, {"FieldValueRequired metadata.name"}},
      {"bad role", kName + Ref("ClusterRole", ""), {"FieldValueRequired roleRef.name"}},
      {"role that is no path segment",
       kName + Ref("ClusterRole", "a/b"),
       {"FieldValueInvalid roleRef.name"}},
      {"bad subject kind",
       kName + ref + Subjects(R"({"name":"subject"})"),
       {"FieldValueNotSupported subjects[0].kind"}},
      {"bad subject name",
       kName + ref +
           Subjects(R"({"namespace":"foo","name":"subject:bad","kind":"ServiceAccount"})"),
       {"FieldValueInvalid subjects[0].name"}},
      {"missing SA namespace",
       kName + ref + Subjects(R"({"name":"good","kind":"ServiceAccount"})"),
       {"FieldValueRequired subjects[0].namespace"}},
      {"missing subject name",
       kName + ref + Subjects(R"({"namespace":"foo","kind":"ServiceAccount"})"),
       {"FieldValueRequired subjects[0].name"}},
      {"user of another group, group without name",
       kName + ref + Subjects(R"({"name":"a","kind":"User","apiGroup":"x"},{"kind":"Group"})"),
       {"FieldValueNotSupported subjects[0].apiGroup", "FieldValueRequired subjects[1].name",
        "FieldValueInvalid subjects[1].name"}},
  };
  for (const RbacRow& row : rows) {
    INFO(row.what);
    CHECK(Findings(rbac::ValidateBinding(
              *ParseRbac("ClusterRoleBinding", "{" + row.object + "}"))) == row.findings);
  }
}

// validation_test.go TestValidateRoleBinding.
TEST_CASE("groups: role bindings are refused as a Go server refuses them", "[groups]") {
  const std::string ref = Ref("Role");
  const std::vector<RbacRow> rows{
      {"valid", kPlaced + ref +
                    Subjects(R"({"name":"validsaname","kind":"ServiceAccount"},)"
                             R"({"name":"valid@username","kind":"User"},)"
                             R"({"name":"valid@groupname","kind":"Group"})")},
      {"bad group",
       kPlaced + R"("roleRef":{"apiGroup":"rbac.GroupName","kind":"ClusterRole","name":"valid"})",
       {"FieldValueNotSupported roleRef.apiGroup"}},
      {"bad kind", kPlaced + Ref("Type"), {"FieldValueNotSupported roleRef.kind"}},
      {"zero-length namespace", kName + ref, {"FieldValueRequired metadata.namespace"}},
      {"zero-length name",
       R"("metadata":{"namespace":"default"},)" + ref,
       {"FieldValueRequired metadata.name"}},
      {"bad role", kPlaced + Ref("Role", ""), {"FieldValueRequired roleRef.name"}},
      {"bad subject kind",
       kPlaced + ref + Subjects(R"({"name":"subject"})"),
       {"FieldValueNotSupported subjects[0].kind"}},
      {"bad subject name",
       kPlaced + ref + Subjects(R"({"name":"subject:bad","kind":"ServiceAccount"})"),
       {"FieldValueInvalid subjects[0].name"}},
      {"missing subject name",
       kPlaced + ref + Subjects(R"({"kind":"ServiceAccount"})"),
       {"FieldValueRequired subjects[0].name"}},
  };
  for (const RbacRow& row : rows) {
    INFO(row.what);
    CHECK(Findings(rbac::ValidateBinding(*ParseRbac("RoleBinding", "{" + row.object + "}"))) ==
          row.findings);
  }
}

// validation_test.go TestValidateRoleBindingUpdate.
TEST_CASE("groups: the role of a binding cannot be changed", "[groups]") {
  const std::string versioned =
      R"({"metadata":{"namespace":"default","name":"master","resourceVersion":"1"},)";
  const auto old = ParseRbac("RoleBinding", versioned + Ref("Role") + "}");
  CHECK(rbac::ValidateBindingUpdate(*old, *old).empty());
  const auto changed = ParseRbac("RoleBinding", versioned + Ref("Role", "changed") + "}");
  CHECK(rbac::ValidateBindingUpdate(*changed, *old).Aggregate() ==
        R"(roleRef: Invalid value: {"APIGroup":"rbac.authorization.k8s.io","Kind":"Role",)"
        R"("Name":"changed"}: cannot change roleRef)");
}

// validation_test.go TestValidateRole*.
TEST_CASE("groups: roles are refused as a Go server refuses them", "[groups]") {
  struct RoleRow {
    std::string test;
    std::string kind;
    std::string object;
    Lines findings = {};
  };
  const auto rule = [](const std::string& text) { return R"("rules":[{)" + text + "}]"; };
  const std::string none = R"("rules":[])";
  const std::vector<RoleRow> rows{
      {"ZeroLengthNamespace", "Role", kName + none, {"FieldValueRequired metadata.namespace"}},
      {"ZeroLengthName",
       "Role",
       R"("metadata":{"namespace":"default"},)" + none,
       {"FieldValueRequired metadata.name"}},
      {"ValidRole", "Role", kPlaced + none},
      {"ValidRoleNoNamespace", "ClusterRole", kName + none},
      {"NonResourceURL", "ClusterRole",
       kName + rule(R"("verbs":["get"],"nonResourceURLs":["/*"])")},
      {"NamespacedNonResourceURL",
       "Role",
       kPlaced + rule(R"("verbs":["get"],"nonResourceURLs":["/*"])"),
       {"FieldValueInvalid rules[0].nonResourceURLs"}},
      {"NonResourceURLNoVerbs",
       "ClusterRole",
       kName + rule(R"("verbs":[],"nonResourceURLs":["/*"])"),
       {"FieldValueRequired rules[0].verbs"}},
      {"MixedNonResourceAndResource",
       "Role",
       kPlaced + rule(R"("verbs":["get"],"nonResourceURLs":["/*"],"apiGroups":["v1"],)"
                      R"("resources":["pods"])"),
       {"FieldValueInvalid rules[0].nonResourceURLs",
        "FieldValueInvalid rules[0].nonResourceURLs"}},
      {"ValidResource", "Role",
       kPlaced + rule(R"("verbs":["get"],"apiGroups":["v1"],"resources":["pods"])")},
      {"NoAPIGroup",
       "Role",
       kPlaced + rule(R"("verbs":["get"],"resources":["pods"])"),
       {"FieldValueRequired rules[0].apiGroups"}},
      {"NoResources",
       "Role",
       kPlaced + rule(R"("verbs":["get"],"apiGroups":["v1"])"),
       {"FieldValueRequired rules[0].resources"}},
  };
  for (const RoleRow& row : rows) {
    INFO(row.test);
    CHECK(Findings(rbac::ValidateRole(*ParseRbac(row.kind, "{" + row.object + "}"))) ==
          row.findings);
  }
}

// validation_test.go TestValidateClusterRoleWithAggregationRule and what ValidateLabelSelector
// says.
TEST_CASE("groups: an aggregation rule must select something", "[groups]") {
  const auto check = [](const std::string& aggregation) {
    return rbac::ValidateRole(
               *ParseRbac("ClusterRole", "{" + kName + R"("aggregationRule":)" + aggregation + "}"))
        .Aggregate();
  };
  const std::string path = "aggregationRule.clusterRoleSelectors";
  CHECK(check(R"({"clusterRoleSelectors":[{"matchLabels":{"a":"b"}}]})").empty());
  CHECK(
      check(R"({"clusterRoleSelectors":[{"matchExpressions":[{"key":"a","operator":"Exists"}]}]})")
          .empty());
  CHECK(check("{}") ==
        path +
            ": Required value: at least one clusterRoleSelector required if aggregationRule is "
            "non-nil");
  CHECK(check(R"({"clusterRoleSelectors":[{"matchExpressions":[{"key":"a","operator":"In"}]}]})") ==
        path +
            "[0].matchExpressions[0].values: Required value: must be specified when `operator` "
            "is 'In' or 'NotIn'");
  CHECK(check(R"({"clusterRoleSelectors":[{"matchExpressions":[{"key":"a","operator":"Is"}]}]})") ==
        path + R"([0].matchExpressions[0].operator: Invalid value: "Is": not a valid selector )"
               "operator");
  CHECK_FALSE(check(R"({"clusterRoleSelectors":[{"matchLabels":{"a b":"c,d"}}]})").empty());
}

// defaults.go: SetDefaults_RoleBinding, SetDefaults_ClusterRoleBinding, SetDefaults_Subject.
TEST_CASE("groups: the groups of a binding's role and subjects are filled in", "[groups]") {
  for (const char* kind : {"RoleBinding", "ClusterRoleBinding"}) {
    const auto binding =
        ParseRbac(kind, "{" + kName + Ref("ClusterRole") +
                            Subjects(R"({"kind":"User","name":"u"},{"kind":"Group","name":"g"},)"
                                     R"({"kind":"ServiceAccount","name":"s","namespace":"n"},)"
                                     R"({"kind":"User","apiGroup":"x","name":"u"})") +
                            "}");
    const std::string own = "rbac.authorization.k8s.io";
    CHECK((*binding)["roleRef"]["apiGroup"].AsString() == own);
    const auto subjects = (*binding)["subjects"];
    CHECK(subjects.at(0)["apiGroup"].AsString() == own);
    CHECK(subjects.at(0)["name"].AsString() == "u");
    CHECK(subjects.at(1)["apiGroup"].AsString() == own);
    CHECK(subjects.at(2)["apiGroup"].is_null());
    CHECK(subjects.at(2)["namespace"].AsString() == "n");
    CHECK(subjects.at(3)["apiGroup"].AsString() == "x");
  }
}

}  // namespace
