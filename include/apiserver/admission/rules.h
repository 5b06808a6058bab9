#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "apiserver/admission/admission.h"
#include "apiserver/runtime/names.h"
#include "apiserver/runtime/value.h"

// The rules by which webhooks and policies choose requests:
// k8s.io/apiserver/pkg/admission/plugin/webhook/predicates/rules.
namespace apiserver::inline v0::admission {

// Operations on resources; "*" stands for all.
struct RuleWithOperations {
  std::vector<std::string> operations = {};  // "CREATE", …
  std::vector<std::string> api_groups = {};
  std::vector<std::string> api_versions = {};
  std::vector<std::string> resources = {};  // "pods", "pods/status", "*/scale", "*/*".
  std::string scope = "*";                  // "Cluster", "Namespaced".

  // True if the rule applies to the request, as one for `resource`, which may be another version of
  // the requested one.
  bool Matches(const Attributes& attributes, const runtime::GroupVersionResource& resource) const;
};

// Returns the rule of an object of admissionregistration.k8s.io; a missing scope is "*".
RuleWithOperations RuleOf(const runtime::Value& rule);

}  // namespace apiserver::inline v0::admission
