#include <algorithm>
#include <utility>

#include "admission/webhook/matcher.h"
#include "apiserver/admission/webhook.h"

namespace apiserver::v0::admission {

namespace {

bool ExactOrWildcard(const std::vector<std::string>& items, std::string_view requested) {
  return std::ranges::any_of(
      items, [&](const std::string& item) { return item == "*" || item == requested; });
}

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

bool ResourceMatches(const std::vector<std::string>& resources, std::string_view resource,
                     std::string_view subresource) {
  return std::ranges::any_of(resources, [&](const std::string& item) {
    const auto [wanted, sub] = SplitResource(item);
    return (wanted == "*" || wanted == resource) && (sub == "*" || sub == subresource);
  });
}

}  // namespace

bool WebhookRule::Matches(const Attributes& attributes,
                          const runtime::GroupVersionResource& resource) const {
  return ScopeMatches(scope, attributes, resource) &&
         ExactOrWildcard(operations, OperationName(attributes.operation)) &&
         ExactOrWildcard(api_groups, resource.group) &&
         ExactOrWildcard(api_versions, resource.version) &&
         ResourceMatches(resources, resource.resource, attributes.subresource);
}

bool IsAdmissionConfiguration(const runtime::GroupVersionKind& kind) {
  static constexpr std::string_view kKinds[] = {
      "ValidatingWebhookConfiguration", "MutatingWebhookConfiguration",
      "ValidatingAdmissionPolicy",      "ValidatingAdmissionPolicyBinding",
      "MutatingAdmissionPolicy",        "MutatingAdmissionPolicyBinding"};
  return kind.group == "admissionregistration.k8s.io" &&
         std::ranges::find(kKinds, kind.kind) != std::end(kKinds);
}

}  // namespace apiserver::v0::admission
