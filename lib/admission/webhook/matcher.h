#pragma once

#include <optional>

#include "admission/matching.h"
#include "apiserver/admission/webhook.h"

namespace apiserver::inline v0::admission {

// A webhook to be called, and the resource and kind under which it gets the request.
struct Invocation {
  const Webhook* webhook = nullptr;
  runtime::GroupVersionResource resource;
  runtime::GroupVersionKind kind;
};

// Matches webhooks and requests; borrows its arguments.
class WebhookMatcher {
 public:
  // `namespaces` may be null.
  explicit WebhookMatcher(const Namespaces* namespaces) : namespaces_(namespaces) {}

  // Returns the invocation. nullopt: the webhook is not for this request. `object` is the new state
  // with the changes so far. An error refuses the request.
  Result<std::optional<Invocation>> Match(const Context& ctx, const Webhook& webhook,
                                          const Attributes& attributes,
                                          const runtime::Object* object) const;
  const NamespaceMatcher& namespaces() const { return namespaces_; }

 private:
  NamespaceMatcher namespaces_;
};

}  // namespace apiserver::inline v0::admission
