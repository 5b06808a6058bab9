#include "apiserver/authz/escalation.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "apiserver/base/field_path.h"
#include "authz/aggregate.h"
#include "authz/rbac/rules.h"

namespace apiserver::inline v0::authz::rbac {
namespace {

bool ResourceCovered(const std::vector<std::string>& held, std::string_view wanted) {
  if (HasTextOrAll(held, wanted)) return true;
  const std::size_t slash = wanted.find('/');
  return slash != std::string_view::npos && HasText(held, "*" + std::string(wanted.substr(slash)));
}

// `part` has one verb, and one resource of one group and at most one name, or one URL.
bool CoversPart(const PolicyRule& held, const PolicyRule& part) {
  const auto all = [](const std::vector<std::string>& wanted, const auto& covered) {
    return std::ranges::all_of(wanted, covered);
  };
  const auto names = [&](const std::string& name) { return HasText(held.resource_names, name); };
  const bool names_covered = held.resource_names.empty() ||
                             (!part.resource_names.empty() && all(part.resource_names, names));
  return names_covered &&
         all(part.verbs, [&](const std::string& verb) { return HasTextOrAll(held.verbs, verb); }) &&
         all(part.api_groups,
             [&](const std::string& group) { return HasTextOrAll(held.api_groups, group); }) &&
         all(part.resources,
             [&](const std::string& wanted) { return ResourceCovered(held.resources, wanted); }) &&
         all(part.non_resource_urls, [&](const std::string& path) {
           return std::ranges::any_of(held.non_resource_urls,
                                      [&](const std::string& url) { return UrlCovers(url, path); });
         });
}

// Calls `visit` with `part`, a part of `rule` without a resource name, for each name of `rule`.
template <class Visit>
void ForEachName(const PolicyRule& rule, PolicyRule part, const Visit& visit) {
  if (rule.resource_names.empty()) visit(part);
  for (const std::string& name : rule.resource_names) {
    part.resource_names = {name};
    visit(part);
  }
}

// Calls `visit` with each part of `rule`.
template <class Visit>
void ForEachPart(const PolicyRule& rule, const Visit& visit) {
  for (const std::string& group : rule.api_groups) {
    for (const std::string& resource : rule.resources) {
      for (const std::string& verb : rule.verbs) {
        ForEachName(rule, {.verbs = {verb}, .api_groups = {group}, .resources = {resource}}, visit);
      }
    }
  }
  for (const std::string& url : rule.non_resource_urls) {
    for (const std::string& verb : rule.verbs) {
      visit(PolicyRule{.verbs = {verb}, .non_resource_urls = {url}});
    }
  }
}

}  // namespace

std::vector<PolicyRule> NotCovered(const std::vector<PolicyRule>& held,
                                   const std::vector<PolicyRule>& wanted) {
  std::vector<PolicyRule> missing;
  for (const PolicyRule& rule : wanted) {
    ForEachPart(rule, [&](const PolicyRule& part) {
      const bool covered = std::ranges::any_of(
          held, [&](const PolicyRule& owned) { return CoversPart(owned, part); });
      if (!covered) missing.push_back(part);
    });
  }
  return missing;
}

bool Covers(const std::vector<PolicyRule>& held, const std::vector<PolicyRule>& wanted) {
  return NotCovered(held, wanted).empty();
}

std::vector<PolicyRule> CompactRules(const std::vector<PolicyRule>& rules) {
  std::vector<PolicyRule> compact;
  // Group, resource and name; where its rule stands.
  std::map<std::tuple<std::string, std::string, std::vector<std::string>>, std::size_t> simple;
  for (const PolicyRule& rule : rules) {
    if (rule.api_groups.size() == 1 && rule.resources.size() == 1 &&
        rule.resource_names.size() <= 1 && rule.non_resource_urls.empty()) {
      const auto [at, added] = simple.try_emplace(
          {rule.api_groups[0], rule.resources[0], rule.resource_names}, compact.size());
      if (!added) {
        std::vector<std::string>& verbs = compact[at->second].verbs;
        verbs.insert(verbs.end(), rule.verbs.begin(), rule.verbs.end());
        continue;
      }
    }
    compact.push_back(rule);
  }
  return compact;
}

Status ConfirmNoEscalation(const RbacAuthorizer& authorizer, const auth::UserInfo& user,
                           std::string_view namespace_, const std::vector<PolicyRule>& rules) {
  const HeldRules held = authorizer.HeldBy(user, namespace_);
  const std::vector<PolicyRule> missing = NotCovered(held.rules, rules);
  if (missing.empty()) return {};
  std::set<std::string> descriptions;
  for (const PolicyRule& rule : CompactRules(missing)) descriptions.insert(CompactString(rule));
  std::string message = "user " + field::Quote(user.name) + " (groups=" + QuotedList(user.groups) +
                        ") is attempting to grant RBAC permissions not currently held:";
  for (const std::string& description : descriptions) message += "\n" + description;
  if (!held.errors.empty()) message += "; resolution errors: [" + Aggregate(held.errors) + "]";
  return Status(Reason::kForbidden, std::move(message));
}

}  // namespace apiserver::inline v0::authz::rbac
