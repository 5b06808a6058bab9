#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "apiserver/authz/rbac.h"

// What every server has from the start:
// k8s.io/kubernetes/plugin/pkg/auth/authorizer/rbac/bootstrappolicy, as far as it is about what a
// server of one's own may serve.
namespace apiserver::inline v0::groups::rbac {

// Set to "false" on a bootstrap object: it is left as it is.
inline constexpr std::string_view kAutoUpdate = "rbac.authorization.kubernetes.io/autoupdate";

struct BootstrapRole {
  std::string name;
  std::vector<authz::rbac::PolicyRule> rules = {};
  // Its rules become those of "admin", "edit" or "view", too; empty: no.
  std::string aggregate_to = "";
  // It is made of what is aggregated to its own name.
  bool aggregated = false;
};

struct BootstrapBinding {
  std::string role;  // And its own name.
  std::vector<std::string> groups;
};

std::vector<BootstrapRole> BootstrapRoles();
std::vector<BootstrapBinding> BootstrapBindings();

}  // namespace apiserver::inline v0::groups::rbac
