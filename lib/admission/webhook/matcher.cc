#include "admission/webhook/matcher.h"

#include <algorithm>
#include <vector>

#include "base/status_macros.h"

namespace apiserver::v0::admission {

namespace {

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

// The order is upstream's: selectors, then rules, and only then the errors of selectors.
Result<std::optional<Invocation>> WebhookMatcher::Match(const Context& ctx, const Webhook& webhook,
                                                        const Attributes& attributes,
                                                        const runtime::Object* object) const {
  // An error matters only if the rules match: a webhook for other requests refuses nothing.
  const Result<bool> in_namespace =
      namespaces_.Matches(ctx, webhook.namespace_selector, attributes, object);
  if (in_namespace.ok() && !*in_namespace) return std::optional<Invocation>();
  const Result<bool> selected = MatchesObject(webhook.object_selector, attributes, object);
  if (selected.ok() && !*selected) return std::optional<Invocation>();
  std::optional<Invocation> invocation = MatchRules(webhook, attributes);
  if (!invocation) return invocation;
  RETURN_IF_ERROR(in_namespace.status());
  RETURN_IF_ERROR(selected.status());
  return invocation;
}

}  // namespace apiserver::v0::admission
