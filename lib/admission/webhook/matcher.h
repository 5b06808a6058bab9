#pragma once

#include <optional>

#include "apiserver/admission/webhook.h"

namespace apiserver::inline v0::admission {

// A webhook that is to be called, and as what it is told the request.
struct Invocation {
  const Webhook* webhook = nullptr;
  runtime::GroupVersionResource resource;
  runtime::GroupVersionKind kind;
};

// What a webhook must never be asked about, so that it cannot stand in the way of its own repair.
bool IsAdmissionConfiguration(const runtime::GroupVersionKind& kind);

// Whether webhooks are for a request; borrows what it is made of.
class WebhookMatcher {
 public:
  // `namespaces` may be null.
  explicit WebhookMatcher(const Namespaces* namespaces) : namespaces_(namespaces) {}

  // nullopt: it is not. `object` is the new state as it is by now. An error refuses the request.
  Result<std::optional<Invocation>> Match(const Context& ctx, const Webhook& webhook,
                                          const Attributes& attributes,
                                          const runtime::Object* object) const;

 private:
  Result<bool> MatchesNamespace(const Context& ctx, const Webhook& webhook,
                                const Attributes& attributes, const runtime::Object* object) const;

  const Namespaces* namespaces_;
};

}  // namespace apiserver::inline v0::admission
