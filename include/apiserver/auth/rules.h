#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "apiserver/auth/user.h"
#include "apiserver/base/context.h"
#include "apiserver/base/status.h"

// The rules that apply to a user: k8s.io/apiserver/pkg/authorization/authorizer.RuleResolver.
// SelfSubjectRulesReview and `kubectl auth can-i --list` show them.
namespace apiserver::inline v0::auth {

// Verbs that are allowed on resources; "*" means all. No names: objects of any name.
struct ResourceRule {
  std::vector<std::string> verbs;
  std::vector<std::string> groups = {};
  std::vector<std::string> resources = {};
  std::vector<std::string> names = {};
};

// Verbs that are allowed on paths; "*" means all.
struct NonResourceRule {
  std::vector<std::string> verbs;
  std::vector<std::string> paths = {};
};

// All rules that a resolver knows.
struct Rules {
  std::vector<ResourceRule> resource_rules = {};
  std::vector<NonResourceRule> non_resource_rules = {};
  // An authorizer cannot list all of its rules, for the reason in `error`.
  bool incomplete = false;
  std::string error = {};
};

// Lists the rules of a user. Called by several threads at once, on the pool, where it may block.
class RuleResolver {
 public:
  virtual ~RuleResolver() = default;
  // Returns the rules that hold in `namespace_`, cluster-wide ones included.
  virtual Rules RulesFor(const Context& ctx, const UserInfoPtr& user,
                         std::string_view namespace_) const = 0;
};

}  // namespace apiserver::inline v0::auth
