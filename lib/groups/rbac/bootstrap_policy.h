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
  std::vector<authz::rbac::PolicyRule> rules = {};
  // The role "admin", "edit" or "view" that its rules are aggregated to. Empty: none.
  std::string aggregate_to = "";
  // If set, it consists of the rules that are aggregated to its name.
  bool aggregated = false;
};

struct BootstrapBinding {
  std::string role;  // Also the binding's name.
  std::vector<std::string> groups;
};

std::vector<BootstrapRole> BootstrapRoles();
std::vector<BootstrapBinding> BootstrapBindings();

}  // namespace apiserver::inline v0::groups::rbac
