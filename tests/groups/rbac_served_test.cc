// The group rbac.authorization.k8s.io on a server whose authorizer follows it.
#include <catch2/catch.hpp>
#include <string>

#include "apiserver/storage/memory/engine.h"
#include "contains.h"
#include "groups/rbac_server.h"

namespace {

using apiserver::testing::Contains;
using rbac_server::kBindings;
using rbac_server::kClusterBindings;
using rbac_server::kClusterRoles;
using rbac_server::kGroup;
using rbac_server::kJane;
using rbac_server::kRoles;
using rbac_server::kRoot;
using rbac_server::RbacServer;
using Who = RbacServer::Who;

std::string RoleRule(const std::string& verbs, const std::string& resources,
                     const std::string& group = "rbac.authorization.k8s.io") {
  return R"({"verbs":[)" + verbs + R"(],"apiGroups":[")" + group + R"("],"resources":[)" +
         resources + "]}";
}
std::string Role(const std::string& name, const std::string& rules,
                 const std::string& labels = "{}") {
  return R"({"metadata":{"name":")" + name + R"(","labels":)" + labels + R"(},"rules":[)" + rules +
         "]}";
}
std::string Binding(const std::string& name, const std::string& kind, const std::string& role,
                    const std::string& user) {
  return R"({"metadata":{"name":")" + name + R"("},"roleRef":{"kind":")" + kind + R"(","name":")" +
         role + R"("},"subjects":[{"kind":"User","name":")" + user + R"("}]})";
}
TEST_CASE("groups: what roles and bindings say is what somebody may", "[groups]") {
  RbacServer server;
  CHECK(server.Call(kJane, "GET", kRoles).code == 403);

  REQUIRE(
      server.Call(kRoot, "POST", kRoles, Role("reader", RoleRule(R"("list","get")", R"("roles")")))
          .code == 201);
  REQUIRE(server.Call(kRoot, "POST", kBindings, Binding("b", "Role", "reader", "jane")).code ==
          201);

  CHECK(server.Eventually(true, kJane, "GET", kRoles));
  CHECK(server.Call(kJane, "GET", kBindings).code == 403);
  CHECK(server.Call(kJane, "GET", kGroup + "/namespaces/other/roles").code == 403);
  CHECK(server.Call(kJane, "GET", kGroup + "/roles").code == 403);
  CHECK(server.Call({"joe"}, "GET", kRoles).code == 403);

  // A rule more, and then no binding any more.
  REQUIRE(server
              .Call(kRoot, "PATCH", kRoles + "/reader",
                    R"({"rules":[)" + RoleRule(R"("list")", R"("rolebindings")") + "]}",
                    "application/merge-patch+json")
              .code == 200);
  CHECK(server.Eventually(true, kJane, "GET", kBindings));
  CHECK(server.Eventually(false, kJane, "GET", kRoles));
  REQUIRE(server.Call(kRoot, "DELETE", kBindings + "/b").code == 200);
  CHECK(server.Eventually(false, kJane, "GET", kBindings));
}

TEST_CASE("groups: a 403 says who may not do what, and which role is missing", "[groups]") {
  RbacServer server;
  CHECK(Contains(server.Call(kJane, "GET", kRoles).body,
                 R"(roles.rbac.authorization.k8s.io is forbidden: User \"jane\" cannot list )"
                 R"(resource \"roles\" in API group \"rbac.authorization.k8s.io\" in the )"
                 R"(namespace \"ns\"")"));
  REQUIRE(server.Call(kRoot, "POST", kClusterBindings, Binding("b", "ClusterRole", "gone", "jane"))
              .code == 201);
  CHECK(server.EventuallyContains(
      kRoles, R"(: RBAC: clusterrole.rbac.authorization.k8s.io \"gone\" not found")", kJane));
}

TEST_CASE("groups: the bootstrap roles are there when the server is ready", "[groups]") {
  RbacServer server;
  // system:discovery and system:basic-user, of everybody who is authenticated.
  CHECK(server.Call(kJane, "GET", "/apis").code == 200);
  CHECK(server.Call(kJane, "GET", "/version").code == 200);
  CHECK(server.Call(kJane, "GET", "/metrics").code == 403);
  CHECK(server.Call({"prometheus", {"system:monitoring"}}, "GET", "/metrics").code == 200);
  CHECK(server.Call({"x", {"system:unauthenticated"}}, "GET", "/version").code == 200);
  CHECK(server.Call({"x", {"system:unauthenticated"}}, "GET", "/apis").code == 403);
  CHECK(server.Call(kRoot, "GET", "/readyz/poststarthook/rbac/bootstrap-roles").code == 200);

  const auto admin = server.Call(kRoot, "GET", kClusterRoles + "/cluster-admin");
  CHECK(Contains(admin.body, R"("labels":{"kubernetes.io/bootstrapping":"rbac-defaults"})"));
  CHECK(Contains(admin.body, R"("rbac.authorization.kubernetes.io/autoupdate":"true")"));
  CHECK(Contains(admin.body, R"("rules":[{"verbs":["*"],"apiGroups":["*"],"resources":["*"]},)"
                             R"({"verbs":["*"],"nonResourceURLs":["*"]}])"));
}

TEST_CASE("groups: admin, edit and view are aggregated, and a host's role becomes theirs",
          "[groups]") {
  RbacServer server;
  // view -> edit -> admin.
  CHECK(server.EventuallyContains(kClusterRoles + "/view", "deployments/scale"));
  CHECK(server.EventuallyContains(kClusterRoles + "/admin", "deployments/scale"));
  CHECK(server.EventuallyContains(kClusterRoles + "/admin", "localsubjectaccessreviews"));
  CHECK(Contains(server.Call(kRoot, "GET", kClusterRoles + "/view").body,
                 R"("manager":"clusterrole-aggregation-controller","operation":"Apply")"));
  REQUIRE(server
              .Call(kRoot, "POST", kClusterRoles,
                    Role("wardle:view", RoleRule(R"("get")", R"("flunders")", "wardle.example.com"),
                         R"({"rbac.authorization.k8s.io/aggregate-to-view":"true"})"))
              .code == 201);
  CHECK(server.EventuallyContains(kClusterRoles + "/view", "flunders"));
  CHECK(server.EventuallyContains(kClusterRoles + "/admin", "flunders"));
  // Changes by others are lost.
  REQUIRE(server
              .Call(kRoot, "PATCH", kClusterRoles + "/view", R"({"rules":[]})",
                    "application/merge-patch+json")
              .code == 200);
  CHECK(server.EventuallyContains(kClusterRoles + "/view", "flunders"));
}

TEST_CASE("groups: a start adds what is missing of the bootstrap roles, and takes nothing away",
          "[groups]") {
  const auto engine = apiserver::storage::memory::NewEngine();
  const std::string discovery = kClusterRoles + "/system:discovery";
  const std::string basic = kClusterRoles + "/system:basic-user";
  const auto patch = [](RbacServer& server, const std::string& target, const std::string& body) {
    REQUIRE(server.Call(kRoot, "PATCH", target, body, "application/merge-patch+json").code == 200);
  };
  {
    RbacServer server({.engine = engine.get()});
    patch(server, discovery,
          R"({"metadata":{"labels":{"mine":"yes","kubernetes.io/bootstrapping":"mine"}},)"
          R"("rules":[{"verbs":["get"],"nonResourceURLs":["/mine","/apis/*"]}]})");
    patch(server, basic,
          R"({"metadata":{"annotations":{"rbac.authorization.kubernetes.io/autoupdate":"false"}},)"
          R"("rules":[]})");
    patch(server, kClusterBindings + "/system:monitoring", R"({"subjects":[]})");
    REQUIRE(server.Call(kRoot, "DELETE", kClusterBindings + "/system:public-info-viewer").code ==
            200);
    REQUIRE(server
                .Call(kRoot, "POST", kClusterBindings,
                      Binding("system:public-info-viewer", "ClusterRole", "view", "jane"))
                .code == 201);
  }
  RbacServer server({.engine = engine.get()});
  const std::string body = server.Call(kRoot, "GET", discovery).body;
  CHECK(Contains(body, R"("/mine")"));
  CHECK(Contains(body, R"("/openapi/*")"));
  CHECK(Contains(body, R"("mine":"yes")"));
  CHECK(Contains(body, R"("kubernetes.io/bootstrapping":"mine")"));
  CHECK(Contains(server.Call(kRoot, "GET", basic).body, R"("rules":[])"));
  CHECK(server.Call({"p", {"system:monitoring"}}, "GET", "/metrics").code == 200);
  const auto viewer = server.Call(kRoot, "GET", kClusterBindings + "/system:public-info-viewer");
  CHECK(Contains(viewer.body, R"("name":"system:public-info-viewer"})"));
  CHECK(Contains(viewer.body, "system:unauthenticated"));
  CHECK_FALSE(Contains(viewer.body, "jane"));
}

TEST_CASE("groups: without bootstrap there is nothing but what somebody creates", "[groups]") {
  RbacServer server({.bootstrap = false});
  CHECK(Contains(server.Call(kRoot, "GET", kClusterRoles).body, R"("items":[])"));
  CHECK(server.Call(kJane, "GET", "/apis").code == 403);
}

TEST_CASE("groups: kubectl get shows what a binding binds", "[groups]") {
  RbacServer server;
  REQUIRE(server
              .Call(kRoot, "POST", kBindings,
                    R"({"metadata":{"name":"b"},"roleRef":{"kind":"ClusterRole","name":"view"},)"
                    R"("subjects":[{"kind":"User","name":"a"},{"kind":"User","name":"b"},)"
                    R"({"kind":"Group","name":"g"},{"kind":"ServiceAccount","name":"s",)"
                    R"("namespace":"ns"}]})")
              .code == 201);
  const auto table = server.Table(kBindings);
  CHECK(Contains(table, R"("cells":["b","ClusterRole/view",)"));
  CHECK(Contains(table, R"("a, b","g","ns/s"])"));
  CHECK(Contains(server.Table(kRoles), R"("name":"Created At")"));
}

const std::string kRulesReview = "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews";
const std::string kAsked = R"({"spec":{"namespace":"ns"}})";

TEST_CASE("groups: somebody may ask for all she may", "[groups]") {
  RbacServer server;
  REQUIRE(
      server.Call(kRoot, "POST", kRoles, Role("reader", RoleRule(R"("get")", R"("roles")"))).code ==
      201);
  REQUIRE(server.Call(kRoot, "POST", kBindings, Binding("b", "Role", "reader", "jane")).code ==
          201);
  REQUIRE(server.Eventually(true, kJane, "GET", kRoles + "/reader"));

  const auto jane = server.Call(kJane, "POST", kRulesReview, kAsked);
  CHECK(jane.code == 201);
  CHECK(Contains(jane.body, R"({"verbs":["get"],"apiGroups":["rbac.authorization.k8s.io"],)"
                            R"("resources":["roles"]})"));
  CHECK(
      Contains(jane.body, R"("resources":["selfsubjectaccessreviews","selfsubjectrulesreviews"])"));
  CHECK(Contains(jane.body, R"("/openapi/*")"));
  CHECK(Contains(jane.body, R"("incomplete":false})"));
  CHECK(Contains(jane.body, R"("spec":{},)"));
  CHECK(Contains(server.Call(kJane, "POST", kRulesReview, R"({"spec":{}})").body,
                 "no namespace on request"));

  const auto nobody = server.Call({"x", {}}, "POST", kRulesReview, kAsked);
  CHECK(nobody.code == 403);
  // Her access review says the same.
  const auto access = server.Call(
      kJane, "POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
      R"({"spec":{"resourceAttributes":{"group":"rbac.authorization.k8s.io","resource":"roles",)"
      R"("verb":"get","namespace":"ns"}}})");
  CHECK(Contains(access.body,
                 R"("status":{"allowed":true,"reason":"RBAC: allowed by RoleBinding \"b/ns\" )"
                 R"(of Role \"reader\" to User \"jane\""})"));
}

// Row 12 of docs/security.md, CVE-2019-11247: rights in a namespace are none on what lives in none.
TEST_CASE("groups: a cluster-scoped object is not reached through a namespace", "[groups]") {
  RbacServer server;
  REQUIRE(server.Call(kRoot, "POST", kRoles, Role("all", RoleRule(R"("*")", R"("*")"))).code ==
          201);
  REQUIRE(server.Call(kRoot, "POST", kBindings, Binding("b", "Role", "all", "jane")).code == 201);
  REQUIRE(server.Eventually(true, kJane, "GET", kRoles));

  const std::string inside = kGroup + "/namespaces/ns/clusterroles";
  for (const std::string& target : {inside, inside + "/cluster-admin"}) {
    const auto answer = server.Call(kJane, "GET", target);
    CHECK(answer.code == 404);
    CHECK_FALSE(Contains(answer.body, "nonResourceURLs"));
    CHECK(server.Call(kJane, "DELETE", target).code == 404);
  }
  CHECK(server.Call(kJane, "GET", kClusterRoles + "/cluster-admin").code == 403);
  CHECK(server.Call(kRoot, "GET", kClusterRoles + "/cluster-admin").code == 200);
}

}  // namespace
