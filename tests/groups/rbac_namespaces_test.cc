// The roles and bindings with which kube-system and kube-public begin, as
// testdata/namespace-roles.yaml and namespace-role-bindings.yaml of upstream's bootstrappolicy have
// them.
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "contains.h"
#include "groups/rbac_server.h"

namespace {

using apiserver::testing::Contains;
using rbac_server::kGroup;
using rbac_server::kJane;
using rbac_server::kRoot;
using rbac_server::RbacServer;

std::string ObjectIn(RbacServer& server, const std::string& path) {
  return server.Call(kRoot, "GET", kGroup + "/namespaces/" + path).body;
}

const char* const kElecting =
    R"([{"verbs":["create","get","list","update","watch"],"apiGroups":["coordination.k8s.io"],)"
    R"("resources":["leases"]},{"verbs":["create","get","list","update","watch"],)"
    R"("apiGroups":["coordination.k8s.io"],"resources":["leasecandidates"]}])";

struct RoleRow {
  const char* path;
  const char* rules;
};

const RoleRow kNamespacedRoles[] = {
    {"kube-system/roles/extension-apiserver-authentication-reader",
     R"([{"verbs":["get","list","watch"],"apiGroups":[""],"resources":["configmaps"],)"
     R"("resourceNames":["extension-apiserver-authentication"]}])"},
    {"kube-system/roles/system::leader-locking-kube-controller-manager", kElecting},
    {"kube-system/roles/system::leader-locking-kube-scheduler", kElecting},
    {"kube-system/roles/system:controller:bootstrap-signer",
     R"([{"verbs":["get","list","watch"],"apiGroups":[""],"resources":["secrets"]}])"},
    {"kube-system/roles/system:controller:cloud-provider",
     R"([{"verbs":["create","get","list","watch"],"apiGroups":[""],)"
     R"("resources":["configmaps"]}])"},
    {"kube-system/roles/system:controller:token-cleaner",
     R"([{"verbs":["delete","get","list","watch"],"apiGroups":[""],"resources":["secrets"]},)"
     R"({"verbs":["create","patch","update"],"apiGroups":["","events.k8s.io"],)"
     R"("resources":["events"]}])"},
    {"kube-public/roles/system:controller:bootstrap-signer",
     R"([{"verbs":["get","list","watch"],"apiGroups":[""],"resources":["configmaps"]},)"
     R"({"verbs":["update"],"apiGroups":[""],"resources":["configmaps"],)"
     R"("resourceNames":["cluster-info"]},)"
     R"({"verbs":["create","patch","update"],"apiGroups":["","events.k8s.io"],)"
     R"("resources":["events"]}])"},
};

std::string User(const std::string& name) {
  return R"({"kind":"User","apiGroup":"rbac.authorization.k8s.io","name":")" + name + R"("})";
}
std::string Account(const std::string& name) {
  return R"({"kind":"ServiceAccount","name":")" + name + R"(","namespace":"kube-system"})";
}

struct BindingRow {
  std::string path;
  std::string role;
  std::string subjects;
};

std::vector<BindingRow> NamespacedBindings() {
  const std::string manager = User("system:kube-controller-manager");
  const std::string scheduler = User("system:kube-scheduler");
  return {
      {"kube-system/rolebindings/system::extension-apiserver-authentication-reader",
       "extension-apiserver-authentication-reader", manager + "," + scheduler},
      {"kube-system/rolebindings/system::leader-locking-kube-controller-manager",
       "system::leader-locking-kube-controller-manager",
       manager + "," + Account("kube-controller-manager") + "," +
           Account("leader-election-controller")},
      {"kube-system/rolebindings/system::leader-locking-kube-scheduler",
       "system::leader-locking-kube-scheduler", scheduler + "," + Account("kube-scheduler")},
      {"kube-system/rolebindings/system:controller:bootstrap-signer",
       "system:controller:bootstrap-signer", Account("bootstrap-signer")},
      {"kube-system/rolebindings/system:controller:cloud-provider",
       "system:controller:cloud-provider", Account("cloud-provider")},
      {"kube-system/rolebindings/system:controller:token-cleaner",
       "system:controller:token-cleaner", Account("token-cleaner")},
      {"kube-public/rolebindings/system:controller:bootstrap-signer",
       "system:controller:bootstrap-signer", Account("bootstrap-signer")},
  };
}

const std::string kDefaults = R"("labels":{"kubernetes.io/bootstrapping":"rbac-defaults"})";

}  // namespace

TEST_CASE("groups: kube-system and kube-public begin with upstream's roles", "[groups]") {
  RbacServer server({.namespaces = true});
  for (const RoleRow& row : kNamespacedRoles) {
    INFO(row.path);
    const std::string role = ObjectIn(server, row.path);
    INFO(role);
    CHECK(Contains(role, std::string(R"("rules":)") + row.rules));
    CHECK(Contains(role, kDefaults));
  }
}

TEST_CASE("groups: kube-system and kube-public begin with upstream's bindings", "[groups]") {
  RbacServer server({.namespaces = true});
  for (const BindingRow& row : NamespacedBindings()) {
    INFO(row.path);
    const std::string binding = ObjectIn(server, row.path);
    INFO(binding);
    CHECK(Contains(binding, R"("subjects":[)" + row.subjects + "]"));
    CHECK(Contains(binding,
                   R"("roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"Role","name":")" +
                       row.role + R"("})"));
    CHECK(Contains(binding, kDefaults));
  }
  const std::string config_map =
      "/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication";
  CHECK(server.Eventually(true, {"system:kube-scheduler"}, "GET", config_map));
  CHECK(server.Call(kJane, "GET", config_map).code == 403);
}

TEST_CASE("groups: a server without namespaces has no roles in them", "[groups]") {
  RbacServer server;
  CHECK(Contains(server.Call(kRoot, "GET", kGroup + "/roles").body, R"("items":[])"));
  CHECK(Contains(server.Call(kRoot, "GET", kGroup + "/rolebindings").body, R"("items":[])"));
}
