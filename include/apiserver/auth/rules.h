#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "apiserver/auth/user.h"
#include "apiserver/base/context.h"
#include "apiserver/base/status.h"

// What may they? k8s.io/apiserver/pkg/authorization/authorizer.RuleResolver: what
// SelfSubjectRulesReview and `kubectl auth can-i --list` show.
namespace apiserver::inline v0::auth {

struct ResourceRule {
  std::vector<std::string> verbs;
  std::vector<std::string> groups = {};
  std::vector<std::string> resources = {};
  std::vector<std::string> names = {};
};

struct NonResourceRule {
  std::vector<std::string> verbs;
  std::vector<std::string> paths = {};
};

struct Rules {
  std::vector<ResourceRule> resource_rules = {};
  std::vector<NonResourceRule> non_resource_rules = {};
  // Some authorizer cannot list all of its rules; why not.
  bool incomplete = false;
  std::string error = {};
};

// Any thread.
class RuleResolver {
 public:
  virtual ~RuleResolver() = default;
  // Those that hold in `namespace_`, cluster-wide ones included.
  virtual Rules RulesFor(const Context& ctx, const UserInfoPtr& user,
                         std::string_view namespace_) const = 0;
};

}  // namespace apiserver::inline v0::auth
