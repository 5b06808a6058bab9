#include "admission/webhook/matcher.h"

#include <algorithm>
#include <string>
#include <vector>

#include "apiserver/meta/errors.h"
#include "base/status_macros.h"

namespace apiserver::v0::admission {

namespace {

// Follows object.Matcher.MatchObjectSelector.
Result<bool> MatchesObject(const Webhook& webhook, const Attributes& attributes,
                           const runtime::Object* object) {
  if (!webhook.object_selector.ok()) {
    return meta::NewInternalError(webhook.object_selector.status().message());
  }
  const meta::LabelSelector& selector = *webhook.object_selector;
  if (selector.empty()) return true;
  const auto matches = [&](const runtime::Object* each) {
    return each != nullptr && selector.Matches(each->labels());
  };
  // Either state counts, so that an update cannot take an object out of a webhook's sight.
  return matches(object) || matches(attributes.old_object);
}

const EquivalentResource* FirstMatch(const Webhook& webhook, const Attributes& attributes,
                                     const std::vector<EquivalentResource>& equivalents) {
  for (const WebhookRule& rule : webhook.rules) {
    for (const EquivalentResource& equivalent : equivalents) {
      // The requested resource itself has been tried before.
      if (equivalent.resource == attributes.resource) continue;
      if (rule.Matches(attributes, equivalent.resource)) return &equivalent;
    }
  }
  return nullptr;
}

// Follows Webhook.ShouldCallHook: rules for the requested resource win over equivalents.
std::optional<Invocation> MatchRules(const Webhook& webhook, const Attributes& attributes) {
  const bool own = std::ranges::any_of(webhook.rules, [&](const WebhookRule& rule) {
    return rule.Matches(attributes, attributes.resource);
  });
  if (own) return Invocation{&webhook, attributes.resource, attributes.kind};
  if (!webhook.equivalent || attributes.equivalents == nullptr) return std::nullopt;
  const auto equivalents =
      attributes.equivalents->EquivalentResourcesFor(attributes.resource, attributes.subresource);
  const EquivalentResource* found = FirstMatch(webhook, attributes, equivalents);
  if (found == nullptr) return std::nullopt;
  return Invocation{&webhook, found->resource, found->kind};
}

}  // namespace

// Follows namespace.Matcher.MatchNamespaceSelector.
Result<bool> WebhookMatcher::MatchesNamespace(const Context& ctx, const Webhook& webhook,
                                              const Attributes& attributes,
                                              const runtime::Object* object) const {
  const bool of_namespaces = attributes.resource.resource == "namespaces";
  // Cluster-scoped objects are never exempt.
  if (attributes.namespace_.empty() && !of_namespaces) return true;
  if (!webhook.namespace_selector.ok()) {
    return meta::NewInternalError(webhook.namespace_selector.status().message());
  }
  const meta::LabelSelector& selector = *webhook.namespace_selector;
  if (selector.empty()) return true;
  const bool writes =
      attributes.operation == Operation::kCreate || attributes.operation == Operation::kUpdate;
  // For a write of a namespace, the request is newer than the informer.
  if (of_namespaces && attributes.subresource.empty() && writes && object != nullptr) {
    return selector.Matches(object->labels());
  }
  if (namespaces_ == nullptr) {
    // Without a source, the one label that every namespace has is known.
    runtime::Arena arena;
    runtime::MapBuilder labels(arena);
    labels.Add("kubernetes.io/metadata.name", runtime::Value::String(attributes.namespace_));
    return selector.Matches(labels.Build());
  }
  runtime::ObjectPtr known = namespaces_->Get(attributes.namespace_);
  if (!known) {
    auto live = namespaces_->GetLive(ctx, attributes.namespace_);
    // The namespace of the request is missing: that is the client's error, not the webhook's.
    if (!live.ok() && live.status().reason() == Reason::kNotFound) return live.status();
    if (!live.ok()) return meta::NewInternalError(live.status().message());
    known = *live;
  }
  return selector.Matches(known->labels());
}

// The order is upstream's: selectors, then rules, and only then the errors of selectors.
Result<std::optional<Invocation>> WebhookMatcher::Match(const Context& ctx, const Webhook& webhook,
                                                        const Attributes& attributes,
                                                        const runtime::Object* object) const {
  // An error matters only if the rules match: a webhook for other requests refuses nothing.
  const Result<bool> in_namespace = MatchesNamespace(ctx, webhook, attributes, object);
  if (in_namespace.ok() && !*in_namespace) return std::optional<Invocation>();
  const Result<bool> selected = MatchesObject(webhook, attributes, object);
  if (selected.ok() && !*selected) return std::optional<Invocation>();
  std::optional<Invocation> invocation = MatchRules(webhook, attributes);
  if (!invocation) return invocation;
  RETURN_IF_ERROR(in_namespace.status());
  RETURN_IF_ERROR(selected.status());
  return invocation;
}

}  // namespace apiserver::v0::admission
