#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "apiserver/authz/rbac.h"

// The default roles and bindings:
// k8s.io/kubernetes/plugin/pkg/auth/authorizer/rbac/bootstrappolicy, as far as it concerns the
// resources of a server of this library.
namespace apiserver::inline v0::groups::rbac {

// The annotation of a bootstrap object: "false" leaves it unchanged.
inline constexpr std::string_view kAutoUpdate = "rbac.authorization.kubernetes.io/autoupdate";

struct BootstrapRole {
  std::string name;
  std::string namespace_ = "";  // Empty: it is a ClusterRole.
  std::vector<authz::rbac::PolicyRule> rules = {};
  // The role "admin", "edit" or "view" that its rules are aggregated to. Empty: none.
  std::string aggregate_to = "";
  // If set, it consists of the rules that are aggregated to its name.
  bool aggregated = false;
};

struct BootstrapBinding {
  std::string role;
  std::string name = "";        // Empty: the role's name.
  std::string namespace_ = "";  // Of the role and the binding. Empty: both are for the cluster.
  std::vector<std::string> groups = {};
  std::vector<std::string> users = {};
  std::vector<std::string> service_accounts = {};  // Of the namespace kube-system.
};

std::vector<BootstrapRole> BootstrapRoles();
std::vector<BootstrapBinding> BootstrapBindings();

// The namespaces, and the roles and bindings in them, of a server that serves namespaces.
std::vector<std::string> BootstrapNamespaces();
std::vector<BootstrapRole> BootstrapRolesInNamespaces();
std::vector<BootstrapBinding> BootstrapBindingsInNamespaces();

}  // namespace apiserver::inline v0::groups::rbac
