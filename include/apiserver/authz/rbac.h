#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/auth/authorizer.h"
#include "apiserver/auth/rules.h"
#include "apiserver/base/status.h"

// Role-based access control: k8s.io/kubernetes/plugin/pkg/auth/authorizer/rbac. Where the roles and
// bindings come from is the caller's affair; groups/rbac.h serves them as API objects.
namespace apiserver::inline v0::authz::rbac {

inline constexpr std::string_view kGroupName = "rbac.authorization.k8s.io";
inline constexpr std::string_view kServiceAccountKind = "ServiceAccount";
inline constexpr std::string_view kUserKind = "User";
inline constexpr std::string_view kGroupKind = "Group";
// Every verb, API group or resource, or every non-resource URL.
inline constexpr std::string_view kAll = "*";

// rbac/v1 PolicyRule: what it lists, in every combination.
struct PolicyRule {
  std::vector<std::string> verbs;
  std::vector<std::string> api_groups = {};
  // "pods", "pods/log", "*/scale", "*".
  std::vector<std::string> resources = {};
  std::vector<std::string> resource_names = {};  // Empty: all, and requests that name none.
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

struct Subject {
  std::string kind;  // "User", "Group" or "ServiceAccount"; others match nobody.
  std::string name;
  // Of a ServiceAccount; empty: the binding's.
  std::string namespace_ = {};

  friend bool operator==(const Subject&, const Subject&) = default;
};

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

// Whether `rule` alone allows what is asked for.
bool RuleAllows(const auth::Attributes& asked, const PolicyRule& rule);

// `{APIGroups:["apps"], Resources:["deployments"], Verbs:["get" "list"]}`.
std::string CompactString(const PolicyRule& rule);

// What a user holds in a namespace.
struct HeldRules {
  std::vector<PolicyRule> rules;
  // Of bindings whose role is not there: each says which.
  std::vector<std::string> errors;
};

// The same without a copy, the rules of each role once. They live as long as `keep`.
struct HeldRulesView {
  std::vector<const PolicyRule*> rules;
  std::vector<std::string> errors;
  std::shared_ptr<const void> keep;
};

// Allows what some rule of some role that is bound to the user allows, and says by which binding;
// no opinion of anything else. It never denies, never waits and never fails.
//
// Readers see immutable snapshots, indexed by subject and by resource: a decision costs as much as
// the user has bindings, however many others have. A change copies what it touches. Any thread;
// a change is seen by all questions that begin after it has returned.
class RbacAuthorizer : public auth::Authorizer, public auth::RuleResolver {
 public:
  // Adds it, or puts it in the place of the one of the same namespace and name.
  virtual void Upsert(Role role) = 0;
  virtual void Upsert(Binding binding) = 0;
  // Nothing happens if it is not there.
  virtual void DeleteRole(std::string_view namespace_, std::string_view name) = 0;
  virtual void DeleteBinding(std::string_view namespace_, std::string_view name) = 0;

  // Those that hold in `namespace_`, cluster-wide ones included; empty: cluster-wide ones alone.
  virtual HeldRules HeldBy(const auth::UserInfo& user, std::string_view namespace_) const = 0;
  virtual HeldRulesView ViewHeldBy(const auth::UserInfo& user,
                                   std::string_view namespace_) const = 0;
};
std::unique_ptr<RbacAuthorizer> NewRbacAuthorizer();

}  // namespace apiserver::inline v0::authz::rbac
