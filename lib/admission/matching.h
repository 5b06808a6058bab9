#pragma once

#include <string_view>
#include <vector>

#include "apiserver/admission/admission.h"
#include "apiserver/admission/namespaces.h"
#include "apiserver/base/status.h"
#include "apiserver/meta/selector.h"

// The predicates that webhooks and policies share: k8s.io/apiserver/pkg/admission/plugin/webhook/
// predicates.
namespace apiserver::inline v0::admission {

// True for the kinds that configure admission, which no webhook or policy may intercept: it could
// prevent its own repair.
bool IsAdmissionConfiguration(const runtime::GroupVersionKind& kind);

// Returns the reviews of authentication.k8s.io and authorization.k8s.io, which webhooks and
// policies do not intercept: they are how users and servers log in, and must not be locked out.
std::vector<runtime::GroupResource> DefaultExcluded();

// Selects requests by the labels of their namespace. Borrows its argument.
class NamespaceMatcher {
 public:
  // Null: a namespace has only the label kubernetes.io/metadata.name.
  explicit NamespaceMatcher(const Namespaces* namespaces) : namespaces_(namespaces) {}

  // Returns whether `selector` selects the request; `object` is the new state with the changes so
  // far. kNotFound: the namespace does not exist. kInternalError: the selector is malformed, or the
  // namespace cannot be read.
  Result<bool> Matches(const Context& ctx, const Result<meta::LabelSelector>& selector,
                       const Attributes& attributes, const runtime::Object* object) const;
  // Returns a namespace, from memory or live. Null: this matcher has no source. Errors are those of
  // Namespaces::GetLive.
  Result<runtime::ObjectPtr> Get(const Context& ctx, std::string_view name) const;

 private:
  const Namespaces* namespaces_;
};

// Returns whether `selector` selects the labels of `object`, the new state, or of the stored state.
// kInternalError: the selector is malformed.
Result<bool> MatchesObject(const Result<meta::LabelSelector>& selector,
                           const Attributes& attributes, const runtime::Object* object);

}  // namespace apiserver::inline v0::admission
