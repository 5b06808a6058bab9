#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/auth/authorizer.h"
#include "apiserver/auth/rules.h"
#include "apiserver/base/status.h"

// Role-based access control: k8s.io/kubernetes/plugin/pkg/auth/authorizer/rbac. The caller provides
// the roles and bindings; groups/rbac.h serves them as API objects.
namespace apiserver::inline v0::authz::rbac {

inline constexpr std::string_view kGroupName = "rbac.authorization.k8s.io";
inline constexpr std::string_view kServiceAccountKind = "ServiceAccount";
inline constexpr std::string_view kUserKind = "User";
inline constexpr std::string_view kGroupKind = "Group";
// Every verb, API group or resource, or every non-resource URL.
inline constexpr std::string_view kAll = "*";

// rbac/v1 PolicyRule: allows every combination of its lists.
struct PolicyRule {
  std::vector<std::string> verbs;
  std::vector<std::string> api_groups = {};
  // "pods", "pods/log", "*/scale", "*".
  std::vector<std::string> resources = {};
  std::vector<std::string> resource_names = {};  // Empty: all names, and requests without one.
  // "/healthz", "/healthz/*", "*".
  std::vector<std::string> non_resource_urls = {};

  friend bool operator==(const PolicyRule&, const PolicyRule&) = default;
};

// A Role, or, without a namespace, a ClusterRole.
struct Role {
  std::string namespace_;
  std::string name;
  std::vector<PolicyRule> rules;
};

// A user, group or service account of a binding.
struct Subject {
  std::string kind;  // "User", "Group" or "ServiceAccount"; others match no user.
  std::string name;
  // The namespace of a ServiceAccount; empty: the binding's.
  std::string namespace_ = {};

  friend bool operator==(const Subject&, const Subject&) = default;
};

// The role of a binding.
struct RoleRef {
  std::string kind;  // "ClusterRole" or "Role".
  std::string name;

  friend bool operator==(const RoleRef&, const RoleRef&) = default;
};

// A RoleBinding, or, without a namespace, a ClusterRoleBinding.
struct Binding {
  std::string namespace_;
  std::string name;
  RoleRef role;
  std::vector<Subject> subjects;
};

// True if `rule` alone allows the request.
bool RuleAllows(const auth::Attributes& asked, const PolicyRule& rule);

// Prints `{APIGroups:["apps"], Resources:["deployments"], Verbs:["get" "list"]}`.
std::string CompactString(const PolicyRule& rule);

// The rules of a user in a namespace.
struct HeldRules {
  std::vector<PolicyRule> rules;
  // One message for each binding whose role does not exist.
  std::vector<std::string> errors;
};

// The same without copies, the rules of each role once. The pointers are valid as long as `keep`.
struct HeldRulesView {
  std::vector<const PolicyRule*> rules;
  std::vector<std::string> errors;
  std::shared_ptr<const void> keep;
};

// Allows a request if a role that is bound to the user has a rule for it, and names the binding; no
// opinion of anything else. It never denies, never blocks and never fails.
//
// Readers see immutable snapshots, indexed by subject and by resource: a decision costs time for
// the user's own bindings, not for those of other users. A change copies only the parts that it
// touches. Methods may be called from any thread; decisions that begin after a change has returned
// see it.
class RbacAuthorizer : public auth::Authorizer, public auth::RuleResolver {
 public:
  // Adds it, or replaces the one with the same namespace and name.
  virtual void Upsert(Role role) = 0;
  virtual void Upsert(Binding binding) = 0;
  // Removes it. Nothing happens if there is none.
  virtual void DeleteRole(std::string_view namespace_, std::string_view name) = 0;
  // The same for a binding.
  virtual void DeleteBinding(std::string_view namespace_, std::string_view name) = 0;

  // Returns the rules of `user` that hold in `namespace_`, cluster-wide ones included. Empty
  // namespace: only cluster-wide ones.
  virtual HeldRules HeldBy(const auth::UserInfo& user, std::string_view namespace_) const = 0;
  // The same without copies.
  virtual HeldRulesView ViewHeldBy(const auth::UserInfo& user,
                                   std::string_view namespace_) const = 0;
};
// Starts without roles and bindings.
std::unique_ptr<RbacAuthorizer> NewRbacAuthorizer();

}  // namespace apiserver::inline v0::authz::rbac
