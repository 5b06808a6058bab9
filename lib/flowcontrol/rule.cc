#include "flowcontrol/rule.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace apiserver::v0::flowcontrol {

namespace {

constexpr std::string_view kServiceAccountPrefix = "system:serviceaccount:";

// True for "*"; validation makes sure that it is the only element.
bool IsAll(const std::vector<std::string>& list) {
  return list.size() == 1 && std::string_view(list[0]) == "*";
}

// Matches as rule.go upstream, where a star stands alone.
bool Contains(const std::vector<std::string>& list, std::string_view wanted) {
  if (IsAll(list)) return true;
  return std::find(list.begin(), list.end(), wanted) != list.end();
}

// Matches "system:serviceaccount:<namespace>:<name>"; the name "*" is any.
bool IsServiceAccount(const Subject& subject, std::string_view user) {
  if (!user.starts_with(kServiceAccountPrefix)) return false;
  user.remove_prefix(kServiceAccountPrefix.size());
  if (!user.starts_with(subject.namespace_)) return false;
  user.remove_prefix(subject.namespace_.size());
  if (!user.starts_with(':')) return false;
  return subject.name == "*" || user.substr(1) == subject.name;
}

bool MatchesSubject(const Subject& subject, const auth::UserInfo& user) {
  const std::string_view name = subject.name;
  switch (subject.kind) {
    case Subject::Kind::kUser:
      return name == "*" || name == user.name;
    case Subject::Kind::kGroup:
      return name == "*" || user.InGroup(name);
    case Subject::Kind::kServiceAccount:
      break;
  }
  return IsServiceAccount(subject, user.name);
}

// Compares "pods/status" without building the string.
bool ContainsResource(const std::vector<std::string>& list, const request::RequestInfo& info) {
  if (info.subresource.empty()) return Contains(list, info.resource);
  if (IsAll(list)) return true;
  return std::any_of(list.begin(), list.end(), [&info](std::string_view each) {
    return each.size() == info.resource.size() + 1 + info.subresource.size() &&
           each.starts_with(info.resource) && each[info.resource.size()] == '/' &&
           each.ends_with(info.subresource);
  });
}

// A resource without namespace matches only rules that name the cluster's scope.
bool MatchesResource(const ResourcePolicyRule& rule, const request::RequestInfo& info) {
  if (!Contains(rule.verbs, info.verb) || !ContainsResource(rule.resources, info) ||
      !Contains(rule.api_groups, info.api_group)) {
    return false;
  }
  return info.namespace_.empty() ? rule.cluster_scope : Contains(rule.namespaces, info.namespace_);
}

// A rule is a path or a prefix of whole segments: "/a", "/a/" and "/a/*" match "/a/b", and only
// "/a" matches "/a" itself.
bool MatchesPath(std::string_view rule, std::string_view path) {
  if (rule == "*" || rule == path) return true;
  if (rule.ends_with('*')) rule.remove_suffix(1);
  if (rule.ends_with('/')) rule.remove_suffix(1);
  return path.size() > rule.size() && path.starts_with(rule) && path[rule.size()] == '/';
}

bool MatchesNonResource(const NonResourcePolicyRule& rule, const request::RequestInfo& info) {
  return Contains(rule.verbs, info.verb) &&
         std::any_of(rule.non_resource_urls.begin(), rule.non_resource_urls.end(),
                     [&info](const std::string& url) { return MatchesPath(url, info.path); });
}

// A plain loop, where std::any_of unrolls: these lists are short, and every request is tried on all
// of the schemas before its own.
bool MatchesAnySubject(const PolicyRulesWithSubjects& rule, const auth::UserInfo& user) {
  for (const Subject& subject : rule.subjects) {
    if (MatchesSubject(subject, user)) return true;
  }
  return false;
}

}  // namespace

bool Matches(const PolicyRulesWithSubjects& rule, const request::RequestInfo& info,
             const auth::UserInfo& user) {
  if (!MatchesAnySubject(rule, user)) return false;
  if (info.is_resource_request) {
    return std::any_of(rule.resource_rules.begin(), rule.resource_rules.end(),
                       [&info](const auto& each) { return MatchesResource(each, info); });
  }
  return std::any_of(rule.non_resource_rules.begin(), rule.non_resource_rules.end(),
                     [&info](const auto& each) { return MatchesNonResource(each, info); });
}

bool Matches(const FlowSchema& schema, const request::RequestInfo& info,
             const auth::UserInfo& user) {
  for (const PolicyRulesWithSubjects& rule : schema.rules) {
    if (Matches(rule, info, user)) return true;
  }
  return false;
}

}  // namespace apiserver::v0::flowcontrol
