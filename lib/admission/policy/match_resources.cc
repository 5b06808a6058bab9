#include "admission/policy/match_resources.h"

#include <algorithm>
#include <utility>

#include "apiserver/meta/label_selector_value.h"
#include "base/status_macros.h"

namespace apiserver::v0::admission::policy {

namespace {

using runtime::Value;

std::vector<NamedRule> RulesOf(const Value& list) {
  std::vector<NamedRule> rules;
  for (const Value& item : list.items()) {
    NamedRule rule{.rule = RuleOf(item)};
    for (const Value& name : item["resourceNames"].items()) {
      rule.resource_names.emplace_back(name.AsString());
    }
    rules.push_back(std::move(rule));
  }
  return rules;
}

// Returns whether the rule has the request's name. A create with generateName has none yet.
bool NameMatches(const NamedRule& rule, const Attributes& attributes) {
  return rule.resource_names.empty() ||
         std::ranges::find(rule.resource_names, attributes.name) != rule.resource_names.end();
}

bool RuleMatches(const NamedRule& rule, const Attributes& attributes,
                 const runtime::GroupVersionResource& resource) {
  return rule.rule.Matches(attributes, resource) && NameMatches(rule, attributes);
}

// Follows matchesResourceRules: the requested resource is tried with all rules before its other
// versions.
std::optional<Matched> MatchRules(const std::vector<NamedRule>& rules, bool equivalent,
                                  const Attributes& attributes) {
  for (const NamedRule& rule : rules) {
    if (RuleMatches(rule, attributes, attributes.resource)) {
      return Matched{attributes.resource, attributes.kind};
    }
  }
  if (!equivalent || rules.empty() || attributes.equivalents == nullptr) return std::nullopt;
  const auto others =
      attributes.equivalents->EquivalentResourcesFor(attributes.resource, attributes.subresource);
  for (const NamedRule& rule : rules) {
    for (const EquivalentResource& other : others) {
      if (other.resource == attributes.resource) continue;
      if (RuleMatches(rule, attributes, other.resource)) return Matched{other.resource, other.kind};
    }
  }
  return std::nullopt;
}

}  // namespace

MatchResources MatchResourcesOf(const Value& match, bool required) {
  MatchResources made;
  if (match.is_null()) {
    if (required) made.incomplete = "policy contained no match constraints, a required field";
    return made;
  }
  for (const char* selector : {"namespace", "object"}) {
    if (!match[std::string(selector) + "Selector"].is_null()) continue;
    made.incomplete = "a nil " + std::string(selector) +
                      " selector was passed, please ensure selectors are initialized properly";
    return made;
  }
  made.namespace_selector = meta::LabelSelectorAsSelector(match["namespaceSelector"]);
  made.object_selector = meta::LabelSelectorAsSelector(match["objectSelector"]);
  made.resource_rules = RulesOf(match["resourceRules"]);
  made.exclude_resource_rules = RulesOf(match["excludeResourceRules"]);
  // A missing matchPolicy is exact here; the default of the API is Equivalent.
  made.equivalent = match["matchPolicy"].AsString() == "Equivalent";
  return made;
}

Result<std::optional<Matched>> ResourceMatcher::Match(const Context& ctx,
                                                      const MatchResources& match,
                                                      const Attributes& attributes,
                                                      const runtime::Object* object) const {
  if (!match.incomplete.empty()) return Status(Reason::kInternalError, match.incomplete);
  // An error matters only if all else matches: a policy for other requests refuses nothing.
  const Result<bool> in_namespace =
      namespaces_.Matches(ctx, match.namespace_selector, attributes, object);
  if (in_namespace.ok() && !*in_namespace) return std::optional<Matched>();
  const Result<bool> selected = MatchesObject(match.object_selector, attributes, object);
  if (selected.ok() && !*selected) return std::optional<Matched>();
  if (MatchRules(match.exclude_resource_rules, match.equivalent, attributes)) {
    return std::optional<Matched>();
  }
  std::optional<Matched> matched = Matched{attributes.resource, attributes.kind};
  if (!match.resource_rules.empty()) {
    matched = MatchRules(match.resource_rules, match.equivalent, attributes);
  }
  if (!matched) return matched;
  RETURN_IF_ERROR(in_namespace.status());
  RETURN_IF_ERROR(selected.status());
  return matched;
}

}  // namespace apiserver::v0::admission::policy
