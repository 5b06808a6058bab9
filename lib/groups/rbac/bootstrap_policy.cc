#include "groups/rbac/bootstrap_policy.h"

#include "apiserver/auth/service_account.h"
#include "apiserver/auth/user.h"

namespace apiserver::v0::groups::rbac {
namespace {

using authz::rbac::PolicyRule;
using Words = std::vector<std::string>;

const char* const kAuthentication = "authentication.k8s.io";
const char* const kAuthorization = "authorization.k8s.io";
const char* const kSystem = "kube-system";
const char* const kPublic = "kube-public";
// The roles of kube-system and kube-public.
const char* const kAuthenticationReader = "extension-apiserver-authentication-reader";
const char* const kLockingManager = "system::leader-locking-kube-controller-manager";
const char* const kLockingScheduler = "system::leader-locking-kube-scheduler";
const char* const kBootstrapSigner = "system:controller:bootstrap-signer";
const char* const kCloudProvider = "system:controller:cloud-provider";
const char* const kTokenCleaner = "system:controller:token-cleaner";

PolicyRule May(Words verbs, const char* group, Words resources) {
  return {.verbs = std::move(verbs), .api_groups = {group}, .resources = std::move(resources)};
}
PolicyRule MayGet(Words urls) { return {.verbs = {"get"}, .non_resource_urls = std::move(urls)}; }

Words Read() { return {"get", "list", "watch"}; }
Words Write() { return {"create", "delete", "deletecollection", "patch", "update"}; }
Words ReadWrite() {
  return {"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"};
}

PolicyRule MayNamed(Words verbs, const char* resource, std::string name) {
  return {.verbs = std::move(verbs),
          .api_groups = {""},
          .resources = {resource},
          .resource_names = {std::move(name)}};
}
PolicyRule MayRecordEvents() {
  return {.verbs = {"create", "patch", "update"},
          .api_groups = {"", "events.k8s.io"},
          .resources = {"events"}};
}
std::vector<PolicyRule> MayElectLeaders() {
  const char* const group = "coordination.k8s.io";
  const Words verbs{"create", "get", "list", "update", "watch"};
  return {May(verbs, group, {"leases"}), May(verbs, group, {"leasecandidates"})};
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
      {.role = "cluster-admin", .groups = {std::string(auth::kSystemPrivilegedGroup)}},
      {.role = "system:monitoring", .groups = {"system:monitoring"}},
      {.role = "system:discovery", .groups = {authenticated}},
      {.role = "system:basic-user", .groups = {authenticated}},
      {.role = "system:public-info-viewer",
       .groups = {authenticated, std::string(auth::kAllUnauthenticated)}},
      {.role = "system:service-account-issuer-discovery",
       .groups = {std::string(auth::serviceaccount::kAllServiceAccountsGroup)}},
  };
}

std::vector<std::string> BootstrapNamespaces() { return {kPublic, kSystem}; }

// Follows namespace_policy.go of upstream's bootstrappolicy.
std::vector<BootstrapRole> BootstrapRolesInNamespaces() {
  return {
      {.name = kAuthenticationReader,
       .namespace_ = kSystem,
       .rules = {MayNamed(Read(), "configmaps", "extension-apiserver-authentication")}},
      {.name = kBootstrapSigner, .namespace_ = kSystem, .rules = {May(Read(), "", {"secrets"})}},
      {.name = kCloudProvider,
       .namespace_ = kSystem,
       .rules = {May({"create", "get", "list", "watch"}, "", {"configmaps"})}},
      {.name = kTokenCleaner,
       .namespace_ = kSystem,
       .rules = {May({"delete", "get", "list", "watch"}, "", {"secrets"}), MayRecordEvents()}},
      {.name = kLockingManager, .namespace_ = kSystem, .rules = MayElectLeaders()},
      {.name = kLockingScheduler, .namespace_ = kSystem, .rules = MayElectLeaders()},
      {.name = kBootstrapSigner,
       .namespace_ = kPublic,
       .rules = {May(Read(), "", {"configmaps"}),
                 MayNamed({"update"}, "configmaps", "cluster-info"), MayRecordEvents()}},
  };
}

std::vector<BootstrapBinding> BootstrapBindingsInNamespaces() {
  const std::string manager = "system:kube-controller-manager";
  const std::string scheduler = "system:kube-scheduler";
  return {
      {.role = kAuthenticationReader,
       .name = std::string("system::") + kAuthenticationReader,
       .namespace_ = kSystem,
       .users = {manager, scheduler}},
      {.role = kLockingManager,
       .namespace_ = kSystem,
       .users = {manager},
       .service_accounts = {"kube-controller-manager", "leader-election-controller"}},
      {.role = kLockingScheduler,
       .namespace_ = kSystem,
       .users = {scheduler},
       .service_accounts = {"kube-scheduler"}},
      {.role = kBootstrapSigner, .namespace_ = kSystem, .service_accounts = {"bootstrap-signer"}},
      {.role = kCloudProvider, .namespace_ = kSystem, .service_accounts = {"cloud-provider"}},
      {.role = kTokenCleaner, .namespace_ = kSystem, .service_accounts = {"token-cleaner"}},
      {.role = kBootstrapSigner, .namespace_ = kPublic, .service_accounts = {"bootstrap-signer"}},
  };
}

}  // namespace apiserver::v0::groups::rbac
