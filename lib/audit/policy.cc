#include "apiserver/audit/policy.h"

#include <algorithm>
#include <utility>

namespace apiserver::v0::audit {

namespace {

bool Has(const std::vector<std::string>& values, std::string_view value) {
  return std::find(values.begin(), values.end(), value) != values.end();
}

// Follows pathMatches of the Go policy checker.
bool PathMatches(std::string_view path, std::string_view spec) {
  if (spec == "*" || spec == path) return true;
  if (!spec.ends_with('*')) return false;
  while (spec.ends_with('*')) spec.remove_suffix(1);
  return path.starts_with(spec);
}

// True if `spec` ("pods", "pods/log", "*", "pods/*", "*/log") matches the request's resource.
bool ResourceMatches(std::string_view spec, const auth::Attributes& attributes) {
  if (spec == "*") return true;
  if (spec.ends_with("/*") && spec.substr(0, spec.size() - 2) == attributes.resource) return true;
  if (attributes.subresource.empty()) return spec == attributes.resource;
  const std::size_t slash = spec.find('/');
  if (slash == std::string_view::npos || spec.substr(slash + 1) != attributes.subresource) {
    return false;
  }
  const std::string_view resource = spec.substr(0, slash);
  return resource == "*" || resource == attributes.resource;
}

bool RuleMatchesResource(const PolicyRule& rule, const auth::Attributes& attributes) {
  if (!attributes.resource_request) return false;
  if (!rule.namespaces.empty() && !Has(rule.namespaces, attributes.namespace_)) return false;
  if (rule.resources.empty()) return true;
  return std::any_of(
      rule.resources.begin(), rule.resources.end(), [&attributes](const GroupResources& each) {
        if (each.group != "*" && each.group != attributes.group) return false;
        // No resources: the rule is for the whole group, and its names do not count.
        if (each.resources.empty()) return true;
        if (!each.resource_names.empty() && !Has(each.resource_names, attributes.name)) {
          return false;
        }
        return std::any_of(
            each.resources.begin(), each.resources.end(),
            [&attributes](const std::string& spec) { return ResourceMatches(spec, attributes); });
      });
}

// Follows ruleMatches: all conditions that a rule has must match; an empty list is no condition.
bool RuleMatches(const PolicyRule& rule, const auth::Attributes& attributes) {
  const auth::UserInfo* const user = attributes.user.get();
  if (!rule.users.empty() && (!user || !Has(rule.users, user->name))) return false;
  if (!rule.user_groups.empty()) {
    if (!user) return false;
    const bool member =
        std::any_of(user->groups.begin(), user->groups.end(),
                    [&rule](const std::string& group) { return Has(rule.user_groups, group); });
    if (!member) return false;
  }
  if (!rule.verbs.empty() && !Has(rule.verbs, attributes.verb)) return false;
  // A rule with namespaces or resources never matches a path that is no resource, as upstream.
  if (!rule.namespaces.empty() || !rule.resources.empty()) {
    return RuleMatchesResource(rule, attributes);
  }
  if (rule.non_resource_urls.empty()) return true;
  if (attributes.resource_request) return false;
  return std::any_of(
      rule.non_resource_urls.begin(), rule.non_resource_urls.end(),
      [&attributes](const std::string& spec) { return PathMatches(attributes.path, spec); });
}

class RuleEvaluator final : public PolicyRuleEvaluator {
 public:
  explicit RuleEvaluator(Policy policy) : policy_(std::move(policy)) {
    // The policy's stages are omitted by every rule, too; merged once, not for each request.
    for (PolicyRule& rule : policy_.rules) {
      for (std::size_t i = 0; i < kStages; ++i) rule.omit_stages[i] |= policy_.omit_stages[i];
    }
  }

  RequestAuditConfig EvaluatePolicyRule(const auth::Attributes& attributes) const override {
    // The first rule that matches decides, so the order in the file matters.
    for (const PolicyRule& rule : policy_.rules) {
      if (!RuleMatches(rule, attributes)) continue;
      return {
          .level = rule.level,
          .omit_stages = rule.omit_stages,
          .omit_managed_fields = rule.omit_managed_fields.value_or(policy_.omit_managed_fields)};
    }
    // Upstream's DefaultAuditLevel: a request that no rule matches is not recorded.
    return {.level = Level::kNone,
            .omit_stages = policy_.omit_stages,
            .omit_managed_fields = policy_.omit_managed_fields};
  }

 private:
  Policy policy_;
};

}  // namespace

std::unique_ptr<const PolicyRuleEvaluator> NewPolicyRuleEvaluator(Policy policy) {
  return std::make_unique<const RuleEvaluator>(std::move(policy));
}

}  // namespace apiserver::v0::audit
