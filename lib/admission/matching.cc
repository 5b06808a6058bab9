#include "admission/matching.h"

#include <algorithm>
#include <iterator>

#include "apiserver/meta/errors.h"
#include "base/status_macros.h"

namespace apiserver::v0::admission {

bool IsAdmissionConfiguration(const runtime::GroupVersionKind& kind) {
  static constexpr std::string_view kKinds[] = {
      "ValidatingWebhookConfiguration", "MutatingWebhookConfiguration",
      "ValidatingAdmissionPolicy",      "ValidatingAdmissionPolicyBinding",
      "MutatingAdmissionPolicy",        "MutatingAdmissionPolicyBinding"};
  return kind.group == "admissionregistration.k8s.io" &&
         std::ranges::find(kKinds, kind.kind) != std::end(kKinds);
}

std::vector<runtime::GroupResource> DefaultExcluded() {
  return {{"authentication.k8s.io", "selfsubjectreviews"},
          {"authentication.k8s.io", "tokenreviews"},
          {"authorization.k8s.io", "localsubjectaccessreviews"},
          {"authorization.k8s.io", "selfsubjectaccessreviews"},
          {"authorization.k8s.io", "selfsubjectrulesreviews"},
          {"authorization.k8s.io", "subjectaccessreviews"}};
}

Result<bool> MatchesObject(const Result<meta::LabelSelector>& selector,
                           const Attributes& attributes, const runtime::Object* object) {
  if (!selector.ok()) return meta::NewInternalError(selector.status().message());
  if (selector->empty()) return true;
  const auto matches = [&](const runtime::Object* each) {
    return each != nullptr && selector->Matches(each->labels());
  };
  // Either state counts, so that an update cannot take an object out of a webhook's sight.
  return matches(object) || matches(attributes.old_object);
}

Result<runtime::ObjectPtr> NamespaceMatcher::Get(const Context& ctx, std::string_view name) const {
  if (namespaces_ == nullptr) return runtime::ObjectPtr();
  if (runtime::ObjectPtr known = namespaces_->Get(name)) return known;
  return namespaces_->GetLive(ctx, name);
}

Result<bool> NamespaceMatcher::Matches(const Context& ctx,
                                       const Result<meta::LabelSelector>& selector,
                                       const Attributes& attributes,
                                       const runtime::Object* object) const {
  const bool of_namespaces = attributes.resource.resource == "namespaces";
  // Cluster-scoped objects are never exempt.
  if (attributes.namespace_.empty() && !of_namespaces) return true;
  if (!selector.ok()) return meta::NewInternalError(selector.status().message());
  if (selector->empty()) return true;
  const bool writes =
      attributes.operation == Operation::kCreate || attributes.operation == Operation::kUpdate;
  // For a write of a namespace, the request is newer than the informer.
  if (of_namespaces && attributes.subresource.empty() && writes && object != nullptr) {
    return selector->Matches(object->labels());
  }
  if (namespaces_ == nullptr) {
    // Without a source, the one label that every namespace has is known.
    runtime::Arena arena;
    runtime::MapBuilder labels(arena);
    labels.Add("kubernetes.io/metadata.name", runtime::Value::String(attributes.namespace_));
    return selector->Matches(labels.Build());
  }
  const auto known = Get(ctx, attributes.namespace_);
  // The namespace of the request is missing: that is the client's error, not the webhook's.
  if (!known.ok() && known.status().reason() == Reason::kNotFound) return known.status();
  if (!known.ok()) return meta::NewInternalError(known.status().message());
  return selector->Matches((*known)->labels());
}

}  // namespace apiserver::v0::admission
