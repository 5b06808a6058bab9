// Nobody gives away more than she holds: the cases of
// test/integration/auth/rbac_test.go and pkg/registry/rbac/*/policybased in short.
#include <catch2/catch.hpp>
#include <string>

#include "groups/rbac_server.h"

namespace {

using rbac_server::kBindings;
using rbac_server::kClusterBindings;
using rbac_server::kClusterRoles;
using rbac_server::kGroup;
using rbac_server::kJane;
using rbac_server::kRoles;
using rbac_server::kRoot;
using rbac_server::RbacServer;
using Who = RbacServer::Who;

const std::string kMerge = "application/merge-patch+json";

std::string NamedRole(const std::string& name, const std::string& rules) {
  return R"({"metadata":{"name":")" + name + R"("},"rules":[)" + rules + "]}";
}
std::string NamedBinding(const std::string& name, const std::string& kind, const std::string& role,
                         const std::string& user) {
  return R"({"metadata":{"name":")" + name + R"("},"roleRef":{"kind":")" + kind + R"(","name":")" +
         role + R"("},"subjects":[{"kind":"User","name":")" + user + R"("}]})";
}
bool Says(const std::string& text, const std::string& piece) {
  return text.find(piece) != std::string::npos;
}

const std::string kGetPods = R"({"verbs":["get"],"apiGroups":[""],"resources":["pods"]})";
const std::string kAnyPods = R"({"verbs":["*"],"apiGroups":[""],"resources":["pods"]})";
// May write all objects of the group, and get pods.
const std::string kManager = R"({"verbs":["get","list","create","update","patch"],)"
                             R"("apiGroups":["rbac.authorization.k8s.io"],"resources":["*"]},)" +
                             kGetPods;

// An authorizer elsewhere that cannot be asked.
class Unreachable final : public apiserver::auth::Authorizer {
 public:
  apiserver::Result<apiserver::auth::Verdict> Authorize(
      const apiserver::Context&, const apiserver::auth::Attributes&) const override {
    return apiserver::Status(apiserver::Reason::kInternalError, "nobody answers");
  }
};

// Roles that gather the rules of others have none for a moment after the start, as in Kubernetes;
// such a role gives nothing, so anybody may bind it.
const std::string kSomeRules = R"("rules":[{)";

// Jane has the rules of `role` everywhere.
void Give(RbacServer& server, const std::string& rules) {
  REQUIRE(server.Call(kRoot, "POST", kClusterRoles, NamedRole("janes", rules)).code == 201);
  REQUIRE(server
              .Call(kRoot, "POST", kClusterBindings,
                    NamedBinding("janes", "ClusterRole", "janes", "jane"))
              .code == 201);
  REQUIRE(server.Eventually(true, kJane, "GET", kClusterRoles));
}

// `["a0","a1",…]`.
std::string Texts(const std::string& letter, int count) {
  std::string list = "[";
  for (int i = 0; i < count; ++i) list += (i > 0 ? ",\"" : "\"") + letter + std::to_string(i) + '"';
  return list + "]";
}

// Row 83. 25 KB of text, a million million parts.
TEST_CASE("groups: a role of more parts than there is memory for is refused shortly", "[groups]") {
  RbacServer server;
  Give(server, kManager);
  const std::string vast = R"({"verbs":)" + Texts("v", 1'000) + R"(,"apiGroups":)" +
                           Texts("g", 1'000) + R"(,"resources":)" + Texts("r", 1'000) +
                           R"(,"resourceNames":)" + Texts("n", 1'000) + "}";
  CHECK(vast.size() < 30'000);

  const auto created = server.Call(kJane, "POST", kRoles, NamedRole("vast", vast));

  CHECK(created.code == 403);
  CHECK(created.body.size() < 400'000);
  CHECK(Says(created.body, R"(is attempting to grant RBAC permissions not currently held:\n)"
                           R"({APIGroups:[\"g0\"], Resources:[\"r0\"], )"));
  CHECK(Says(created.body, R"(\nand more)"));
  // Through a binding too, and whoever holds it all may.
  CHECK(server.Call(kRoot, "POST", kRoles, NamedRole("vast", vast)).code == 201);
  const auto bound =
      server.Call(kJane, "POST", kBindings, NamedBinding("vast", "Role", "vast", "jane"));
  CHECK(bound.code == 403);
  CHECK(bound.body.size() < 400'000);
}

TEST_CASE("groups: nobody creates or changes a role beyond what she holds", "[groups]") {
  RbacServer server;
  Give(server, kManager);
  for (const std::string& roles : {kRoles, kClusterRoles}) {
    CHECK(server.Call(kJane, "POST", roles, NamedRole("fine", kGetPods)).code == 201);
    const auto refused = server.Call(kJane, "POST", roles, NamedRole("more", kAnyPods));
    CHECK(refused.code == 403);
    CHECK(Says(refused.body,
               R"(\"more\" is forbidden: user \"jane\" (groups=[\"system:authenticated\"]) is )"
               R"(attempting to grant RBAC permissions not currently held:\n)"
               R"({APIGroups:[\"\"], Resources:[\"pods\"], Verbs:[\"*\"]})"));
    const auto patched =
        server.Call(kJane, "PATCH", roles + "/fine", R"({"rules":[)" + kAnyPods + "]}", kMerge);
    CHECK(patched.code == 403);
    CHECK(server.Call(kJane, "PUT", roles + "/fine", NamedRole("fine", kAnyPods)).code == 403);
    // A PUT that creates.
    CHECK(server.Call(kJane, "PUT", roles + "/new", NamedRole("new", kAnyPods)).code == 403);
    CHECK(server.Call(kJane, "PUT", roles + "/new", NamedRole("new", kGetPods)).code == 201);
    CHECK(Says(server.Call(kRoot, "GET", roles + "/fine").body, R"("rules":[)" + kGetPods + "]"));
  }
}

TEST_CASE("groups: nobody applies a role or binding beyond what she holds", "[groups]") {
  RbacServer server;
  Give(server, kManager);
  const auto apply = [&server](const std::string& path, const std::string& kind, std::string body) {
    // What an object of the kind says beside its name.
    body.insert(1, R"("apiVersion":"rbac.authorization.k8s.io/v1","kind":")" + kind + "\",");
    return server.Call(kJane, "PATCH", path + "?fieldManager=jane&force=true", body,
                       "application/apply-patch+yaml");
  };
  for (const auto& [roles, kind] : {std::pair(kRoles, "Role"), {kClusterRoles, "ClusterRole"}}) {
    INFO(kind);
    // Creates it.
    const auto refused = apply(roles + "/more", kind, NamedRole("more", kAnyPods));
    CHECK(refused.code == 403);
    CHECK(Says(refused.body, "is attempting to grant RBAC permissions not currently held"));
    CHECK(server.Call(kRoot, "GET", roles + "/more").code == 404);
    CHECK(apply(roles + "/fine", kind, NamedRole("fine", kGetPods)).code == 201);
    // Changes it; another manager's rules too.
    CHECK(apply(roles + "/fine", kind, NamedRole("fine", kAnyPods)).code == 403);
    REQUIRE(server.Call(kRoot, "POST", roles, NamedRole("roots", kGetPods)).code == 201);
    CHECK(apply(roles + "/roots", kind, NamedRole("roots", kAnyPods)).code == 403);
    for (const std::string name : {"fine", "roots"}) {
      CHECK(Says(server.Call(kRoot, "GET", roles + "/" + name).body,
                 R"("rules":[)" + kGetPods + "]"));
    }
  }
  for (const auto& [bindings, kind] :
       {std::pair(kBindings, "RoleBinding"), {kClusterBindings, "ClusterRoleBinding"}}) {
    INFO(kind);
    const auto refused = apply(bindings + "/mine", kind,
                               NamedBinding("mine", "ClusterRole", "cluster-admin", "jane"));
    CHECK(refused.code == 403);
    CHECK(Says(refused.body, "is attempting to grant RBAC permissions not currently held"));
    CHECK(server.Call(kRoot, "GET", bindings + "/mine").code == 404);
  }
}

TEST_CASE("groups: who may escalate gives what she does not hold", "[groups]") {
  RbacServer server;
  Give(server, kManager + R"(,{"verbs":["escalate"],"apiGroups":["rbac.authorization.k8s.io"],)"
                          R"("resources":["roles"]},)"
                          R"({"verbs":["escalate"],"apiGroups":["rbac.authorization.k8s.io"],)"
                          R"("resources":["clusterroles"],"resourceNames":["that"]})");
  CHECK(server.Call(kJane, "POST", kRoles, NamedRole("more", kAnyPods)).code == 201);
  CHECK(server.Call(kJane, "POST", kClusterRoles, NamedRole("that", kAnyPods)).code == 403);
  // The name is known where it stands in the URL.
  CHECK(server.Call(kJane, "PUT", kClusterRoles + "/that", NamedRole("that", kAnyPods)).code ==
        201);
  CHECK(server.Call(kJane, "PUT", kClusterRoles + "/it", NamedRole("it", kAnyPods)).code == 403);
}

TEST_CASE("groups: nobody binds a role beyond what she holds", "[groups]") {
  RbacServer server;
  Give(server, kManager);
  REQUIRE(server.Call(kRoot, "POST", kRoles, NamedRole("fine", kGetPods)).code == 201);
  REQUIRE(server.Call(kRoot, "POST", kRoles, NamedRole("more", kAnyPods)).code == 201);
  CHECK(server.Call(kJane, "POST", kBindings, NamedBinding("a", "Role", "fine", "joe")).code ==
        201);
  const auto refused =
      server.Call(kJane, "POST", kBindings, NamedBinding("b", "Role", "more", "joe"));
  CHECK(refused.code == 403);
  CHECK(Says(refused.body, "is attempting to grant RBAC permissions not currently held"));
  CHECK(
      server
          .Call(kJane, "POST", kBindings, NamedBinding("c", "ClusterRole", "cluster-admin", "jane"))
          .code == 403);
  CHECK(server
            .Call(kJane, "POST", kClusterBindings,
                  NamedBinding("c", "ClusterRole", "cluster-admin", "jane"))
            .code == 403);
  const auto lost = server.Call(kJane, "POST", kBindings, NamedBinding("d", "Role", "no", "joe"));
  CHECK(lost.code == 404);
  CHECK(Says(lost.body, R"(roles.rbac.authorization.k8s.io \"no\" not found)"));
  // More of it for others, of a role she does not hold.
  REQUIRE(server.Call(kRoot, "POST", kBindings, NamedBinding("e", "Role", "more", "joe")).code ==
          201);
  CHECK(server
            .Call(kJane, "PATCH", kBindings + "/e",
                  R"({"subjects":[{"kind":"User","name":"jane"}]})", kMerge)
            .code == 403);
  // What the garbage collector does is no grant.
  CHECK(server
            .Call(kJane, "PATCH", kBindings + "/e", R"({"metadata":{"finalizers":["a.b/c"]}})",
                  kMerge)
            .code == 200);
}

TEST_CASE("groups: who may bind a role gives it without holding its rules", "[groups]") {
  RbacServer server;
  REQUIRE(server.EventuallyContains(kClusterRoles + "/edit", kSomeRules));
  Give(server, kManager + R"(,{"verbs":["bind"],"apiGroups":["rbac.authorization.k8s.io"],)"
                          R"("resources":["clusterroles"],"resourceNames":["view"]})");
  CHECK(
      server.Call(kJane, "POST", kBindings, NamedBinding("a", "ClusterRole", "view", "joe")).code ==
      201);
  CHECK(
      server.Call(kJane, "POST", kClusterBindings, NamedBinding("a", "ClusterRole", "view", "joe"))
          .code == 201);
  CHECK(
      server.Call(kJane, "POST", kBindings, NamedBinding("b", "ClusterRole", "edit", "joe")).code ==
      403);
}

TEST_CASE("groups: only a cluster admin has rules gathered for her", "[groups]") {
  RbacServer server;
  Give(server, kManager);
  const std::string gathers =
      R"({"metadata":{"name":"all"},"aggregationRule":{"clusterRoleSelectors":[{}]}})";
  const auto refused = server.Call(kJane, "POST", kClusterRoles, gathers);
  CHECK(refused.code == 403);
  CHECK(Says(refused.body, "must have cluster-admin privileges to use the aggregationRule"));
  REQUIRE(server
              .Call(kRoot, "POST", kClusterBindings,
                    NamedBinding("more", "ClusterRole", "cluster-admin", "jane"))
              .code == 201);
  REQUIRE(server.Eventually(true, kJane, "GET", "/metrics"));
  CHECK(server.Call(kJane, "POST", kClusterRoles, gathers).code == 201);
}

TEST_CASE("groups: only a cluster admin changes a role that gathers, or makes it one that does not",
          "[groups]") {
  RbacServer server;
  Give(server, kManager);
  const std::string gathers = R"({"metadata":{"name":"some"},"aggregationRule":{)"
                              R"("clusterRoleSelectors":[{"matchLabels":{"a":"b"}}]}})";
  REQUIRE(server.Call(kRoot, "POST", kClusterRoles, gathers).code == 201);
  for (const char* patch :
       {R"({"aggregationRule":null})", R"({"aggregationRule":{"clusterRoleSelectors":[]}})",
        R"({"metadata":{"labels":{"c":"d"}}})"}) {
    CAPTURE(patch);
    const auto refused = server.Call(kJane, "PATCH", kClusterRoles + "/some", patch, kMerge);
    CHECK(refused.code == 403);
    CHECK(Says(refused.body, "must have cluster-admin privileges to use the aggregationRule"));
  }
  CHECK(server.Call(kRoot, "PATCH", kClusterRoles + "/some", R"({"aggregationRule":null})", kMerge)
            .code == 200);
}

TEST_CASE("groups: an authorizer that fails lets nobody escalate or bind", "[groups]") {
  RbacServer server({.last = std::make_shared<Unreachable>()});
  REQUIRE(server.EventuallyContains(kClusterRoles + "/edit", kSomeRules));
  Give(server, kManager);
  for (const std::string& roles : {kRoles, kClusterRoles}) {
    CHECK(server.Call(kJane, "POST", roles, NamedRole("fine", kGetPods)).code == 201);
    CHECK(server.Call(kJane, "POST", roles, NamedRole("more", kAnyPods)).code == 403);
  }
  for (const std::string& bindings : {kBindings, kClusterBindings}) {
    const auto refused =
        server.Call(kJane, "POST", bindings, NamedBinding("b", "ClusterRole", "edit", "jane"));
    CHECK(refused.code == 403);
  }
}

TEST_CASE("groups: the role of a binding is not changed by a write", "[groups]") {
  RbacServer server;
  REQUIRE(
      server.Call(kRoot, "POST", kBindings, NamedBinding("a", "ClusterRole", "view", "joe")).code ==
      201);
  const auto changed =
      server.Call(kRoot, "PATCH", kBindings + "/a", R"({"roleRef":{"name":"edit"}})", kMerge);
  CHECK(changed.code == 422);
  CHECK(Says(changed.body, "cannot change roleRef"));
}

}  // namespace
