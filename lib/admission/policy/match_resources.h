#pragma once

#include <optional>
#include <string>
#include <vector>

#include "admission/matching.h"
#include "apiserver/admission/rules.h"
#include "apiserver/meta/selector.h"
#include "apiserver/runtime/value.h"

// The choice of requests by policies and bindings:
// k8s.io/apiserver/pkg/admission/plugin/policy/matching.
namespace apiserver::inline v0::admission::policy {

// A rule that may be limited to some names.
struct NamedRule {
  RuleWithOperations rule = {};
  std::vector<std::string> resource_names = {};  // Empty: all.
};

// The requests of a policy or binding.
struct MatchResources {
  Result<meta::LabelSelector> namespace_selector = meta::LabelSelector();
  Result<meta::LabelSelector> object_selector = meta::LabelSelector();
  std::vector<NamedRule> resource_rules = {};  // Empty: all resources.
  std::vector<NamedRule> exclude_resource_rules = {};
  bool equivalent = true;  // matchPolicy: Equivalent.
  // Set if the object lacks what its defaults give it; matching then fails with it.
  std::string incomplete = {};
};
// Reads matchConstraints or matchResources. `required`: a policy must have them.
MatchResources MatchResourcesOf(const runtime::Value& match, bool required);

// The resource and kind as which a request was matched.
struct Matched {
  runtime::GroupVersionResource resource;
  runtime::GroupVersionKind kind;
};

// Matches requests. Borrows its argument, which may be null.
class ResourceMatcher {
 public:
  explicit ResourceMatcher(const Namespaces* namespaces) : namespaces_(namespaces) {}

  const NamespaceMatcher& namespaces() const { return namespaces_; }
  // Returns the resource and kind to use. nullopt: the request is not matched. An error is one of
  // configuration, or the missing namespace. `object` is the new state with the changes so far.
  Result<std::optional<Matched>> Match(const Context& ctx, const MatchResources& match,
                                       const Attributes& attributes,
                                       const runtime::Object* object) const;

 private:
  NamespaceMatcher namespaces_;
};

}  // namespace apiserver::inline v0::admission::policy
