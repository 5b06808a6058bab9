#include "apiserver/admission/rules.h"

#include <algorithm>
#include <utility>

namespace apiserver::v0::admission {

namespace {

// As in Go's rules.Matcher: the star must be the whole item.
bool ExactOrWildcard(const std::vector<std::string>& items, std::string_view requested) {
  return std::ranges::any_of(
      items, [&](const std::string& item) { return item == "*" || item == requested; });
}

// Follows Matcher.scope of webhook/predicates/rules.
bool ScopeMatches(std::string_view scope, const Attributes& attributes,
                  const runtime::GroupVersionResource& resource) {
  if (scope == "*") return true;
  // A request for a Namespace has that namespace, but is about the cluster.
  const bool cluster = attributes.namespace_.empty() ||
                       resource == runtime::GroupVersionResource{
                                       .group = "", .version = "v1", .resource = "namespaces"};
  return cluster ? scope == "Cluster" : scope == "Namespaced";
}

// Splits "pods/status" into {"pods", "status"}.
std::pair<std::string_view, std::string_view> SplitResource(std::string_view resource) {
  const std::size_t slash = resource.find('/');
  if (slash == std::string_view::npos) return {resource, ""};
  return {resource.substr(0, slash), resource.substr(slash + 1)};
}

// An item without a slash is for the resource itself: "pods" does not match "pods/status", "pods/*"
// matches both.
bool ResourceMatches(const std::vector<std::string>& resources, std::string_view resource,
                     std::string_view subresource) {
  return std::ranges::any_of(resources, [&](const std::string& item) {
    const auto [wanted, sub] = SplitResource(item);
    return (wanted == "*" || wanted == resource) && (sub == "*" || sub == subresource);
  });
}

std::vector<std::string> TextsOf(const runtime::Value& list) {
  std::vector<std::string> texts;
  for (const runtime::Value& item : list.items()) texts.emplace_back(item.AsString());
  return texts;
}

}  // namespace

bool RuleWithOperations::Matches(const Attributes& attributes,
                                 const runtime::GroupVersionResource& resource) const {
  return ScopeMatches(scope, attributes, resource) &&
         ExactOrWildcard(operations, OperationName(attributes.operation)) &&
         ExactOrWildcard(api_groups, resource.group) &&
         ExactOrWildcard(api_versions, resource.version) &&
         ResourceMatches(resources, resource.resource, attributes.subresource);
}

RuleWithOperations RuleOf(const runtime::Value& rule) {
  RuleWithOperations made{.operations = TextsOf(rule["operations"]),
                          .api_groups = TextsOf(rule["apiGroups"]),
                          .api_versions = TextsOf(rule["apiVersions"]),
                          .resources = TextsOf(rule["resources"])};
  if (const runtime::Value scope = rule["scope"]; scope.is_string()) made.scope = scope.AsString();
  return made;
}

}  // namespace apiserver::v0::admission
