#include "groups/rbac/bootstrap_policy.h"

#include "apiserver/auth/service_account.h"
#include "apiserver/auth/user.h"

namespace apiserver::v0::groups::rbac {
namespace {

using authz::rbac::PolicyRule;
using Words = std::vector<std::string>;

const char* const kAuthentication = "authentication.k8s.io";
const char* const kAuthorization = "authorization.k8s.io";

PolicyRule May(Words verbs, const char* group, Words resources) {
  return {.verbs = std::move(verbs), .api_groups = {group}, .resources = std::move(resources)};
}
PolicyRule MayGet(Words urls) { return {.verbs = {"get"}, .non_resource_urls = std::move(urls)}; }

Words Read() { return {"get", "list", "watch"}; }
Words Write() { return {"create", "delete", "deletecollection", "patch", "update"}; }
Words ReadWrite() {
  return {"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"};
}

// Returns the roles of every user that may log in, or that may not.
std::vector<BootstrapRole> UserRoles() {
  return {
      {.name = "system:discovery",
       .rules = {MayGet({"/api", "/api/*", "/apis", "/apis/*", "/healthz", "/livez", "/openapi",
                         "/openapi/*", "/readyz", "/version", "/version/"})}},
      {.name = "system:monitoring",
       .rules = {MayGet({"/healthz", "/healthz/*", "/livez", "/livez/*", "/metrics",
                         "/metrics/slis", "/readyz", "/readyz/*"})}},
      {.name = "system:basic-user",
       .rules = {May({"create"}, kAuthorization,
                     {"selfsubjectaccessreviews", "selfsubjectrulesreviews"}),
                 May({"create"}, kAuthentication, {"selfsubjectreviews"})}},
      {.name = "system:public-info-viewer",
       .rules = {MayGet({"/healthz", "/livez", "/readyz", "/version", "/version/"})}},
      {.name = "system:auth-delegator",
       .rules = {May({"create"}, kAuthentication, {"tokenreviews"}),
                 May({"create"}, kAuthorization, {"subjectaccessreviews"})}},
      {.name = "system:service-account-issuer-discovery",
       .rules = {MayGet({"/.well-known/openid-configuration", "/.well-known/openid-configuration/",
                         "/openid/v1/jwks", "/openid/v1/jwks/"})}},
  };
}

// Returns the roles for a namespace, or for all of them. They contain the built-in kinds of
// groups/; a host adds its own by ClusterRoles labelled rbac.authorization.k8s.io/aggregate-to-edit
// and so on.
std::vector<BootstrapRole> NamespaceRoles() {
  const std::string rbac(authz::rbac::kGroupName);
  return {
      {.name = "admin", .aggregated = true},
      {.name = "edit", .aggregate_to = "admin", .aggregated = true},
      {.name = "view", .aggregate_to = "edit", .aggregated = true},
      {.name = "system:aggregate-to-admin",
       .rules = {May({"create"}, kAuthorization, {"localsubjectaccessreviews"}),
                 May(ReadWrite(), rbac.c_str(), {"rolebindings", "roles"})},
       .aggregate_to = "admin"},
      {.name = "system:aggregate-to-edit",
       .rules = {May(Read(), "", {"secrets"}), May({"impersonate"}, "", {"serviceaccounts"}),
                 May(Write(), "", {"configmaps", "events", "secrets", "serviceaccounts"}),
                 May(Write(), "", {"pods"}), May(Write(), "apps", {"deployments"}),
                 May(ReadWrite(), "coordination.k8s.io", {"leases"})},
       .aggregate_to = "edit"},
      {.name = "system:aggregate-to-view",
       .rules = {May(Read(), "",
                     {"configmaps", "events", "namespaces", "pods", "pods/status",
                      "serviceaccounts"}),
                 May(Read(), "apps", {"deployments", "deployments/scale", "deployments/status"})},
       .aggregate_to = "view"},
  };
}

}  // namespace

// Follows plugin/pkg/auth/authorizer/rbac/bootstrappolicy for the resources that this server may
// serve.
std::vector<BootstrapRole> BootstrapRoles() {
  std::vector<BootstrapRole> roles{
      {.name = "cluster-admin",
       .rules = {May({"*"}, "*", {"*"}), {.verbs = {"*"}, .non_resource_urls = {"*"}}}}};
  for (auto part : {&UserRoles, &NamespaceRoles}) {
    const std::vector<BootstrapRole> more = part();
    roles.insert(roles.end(), more.begin(), more.end());
  }
  return roles;
}

std::vector<BootstrapBinding> BootstrapBindings() {
  const std::string authenticated(auth::kAllAuthenticated);
  return {
      {"cluster-admin", {std::string(auth::kSystemPrivilegedGroup)}},
      {"system:monitoring", {"system:monitoring"}},
      {"system:discovery", {authenticated}},
      {"system:basic-user", {authenticated}},
      {"system:public-info-viewer", {authenticated, std::string(auth::kAllUnauthenticated)}},
      {"system:service-account-issuer-discovery",
       {std::string(auth::serviceaccount::kAllServiceAccountsGroup)}},
  };
}

}  // namespace apiserver::v0::groups::rbac
