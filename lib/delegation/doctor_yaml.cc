#include "delegation/doctor_yaml.h"

#include "apiserver/codec/json.h"
#include "text/base64.h"

namespace apiserver::v0::delegation {

namespace {

constexpr std::string_view kServiceAccountPrefix = "system:serviceaccount:";

// Quotes a text: JSON's quoted texts are valid YAML, whatever they contain.
std::string Quoted(std::string_view text) {
  std::string quoted;
  codec::AppendJsonString(text, quoted);
  return quoted;
}

// Returns a binding's list of one subject.
std::string Subject(std::string_view user) {
  std::string yaml = "subjects:\n";
  if (user.starts_with(kServiceAccountPrefix)) {
    const std::string_view account = user.substr(kServiceAccountPrefix.size());
    const std::size_t colon = account.find(':');
    if (colon != std::string_view::npos) {
      return yaml + "- kind: ServiceAccount\n  namespace: " + Quoted(account.substr(0, colon)) +
             "\n  name: " + Quoted(account.substr(colon + 1)) + "\n";
    }
  }
  const std::string_view name = user.empty() ? "<the server's user>" : user;
  return yaml + "- kind: User\n  apiGroup: rbac.authorization.k8s.io\n  name: " + Quoted(name) +
         "\n";
}

// Returns a name for a binding: object names may have colons, but not all that users' names may
// have.
std::string BindingName(std::string_view user, std::string_view role) {
  std::string name;
  for (const char c : user) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == ':';
    name += plain ? c : '-';
  }
  return name + (name.empty() ? "" : ":") + std::string(role);
}

std::string RoleRef(std::string_view kind, std::string_view name) {
  return "roleRef:\n  apiGroup: rbac.authorization.k8s.io\n  kind: " + std::string(kind) +
         "\n  name: " + std::string(name) + "\n";
}

constexpr std::string_view kRbac = "apiVersion: rbac.authorization.k8s.io/v1\n";

}  // namespace

std::string AuthenticationReaderYaml(std::string_view user) {
  constexpr std::string_view kRole = "extension-apiserver-authentication-reader";
  return std::string(kRbac) +
         "kind: RoleBinding\nmetadata:\n  name: " + Quoted(BindingName(user, kRole)) +
         "\n  namespace: kube-system\n" + RoleRef("Role", kRole) + Subject(user);
}

std::string AuthDelegatorYaml(std::string_view user) {
  constexpr std::string_view kRole = "system:auth-delegator";
  return std::string(kRbac) +
         "kind: ClusterRoleBinding\nmetadata:\n  name: " + Quoted(BindingName(user, kRole)) + "\n" +
         RoleRef("ClusterRole", kRole) + Subject(user);
}

std::string FollowerYaml(std::string_view user, std::span<const runtime::GroupResource> followed) {
  const std::string name = BindingName(user, "admission");
  std::string yaml =
      std::string(kRbac) + "kind: ClusterRole\nmetadata:\n  name: " + Quoted(name) + "\nrules:\n";
  for (const runtime::GroupResource& each : followed) {
    yaml += "- apiGroups: [" + Quoted(each.group) + "]\n  resources: [" + Quoted(each.resource) +
            "]\n  verbs: [get, list, watch]\n";
  }
  return yaml + "---\n" + std::string(kRbac) +
         "kind: ClusterRoleBinding\nmetadata:\n  name: " + Quoted(name) + "\n" +
         RoleRef("ClusterRole", Quoted(name)) + Subject(user);
}

// The priorities are those of the sample-apiserver's APIService.
std::string ApiServiceYaml(const runtime::GroupVersion& group_version,
                           const ServiceReference& service, std::string_view ca_pem) {
  std::string ca;
  text::AppendBase64(ca_pem, ca);
  const std::string name = group_version.version + "." + group_version.group;
  return "apiVersion: apiregistration.k8s.io/v1\nkind: APIService\nmetadata:\n  name: " +
         Quoted(name) + "\nspec:\n  group: " + Quoted(group_version.group) +
         "\n  version: " + Quoted(group_version.version) +
         "\n  groupPriorityMinimum: 1000\n  versionPriority: 15\n  service:\n    name: " +
         Quoted(service.name) + "\n    namespace: " + Quoted(service.namespace_) +
         "\n  caBundle: " + Quoted(ca) + "\n";
}

}  // namespace apiserver::v0::delegation
