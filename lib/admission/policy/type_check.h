#pragma once  // Library-internal: other rooms include this header.

#include <string>
#include <vector>

#include "apiserver/runtime/names.h"
#include "apiserver/runtime/object.h"
#include "apiserver/runtime/schema_node.h"

// Warnings about the types in a policy: k8s.io/apiserver/pkg/admission/plugin/policy/validating/
// typechecking.go. They never change what a policy does: at run time `object` is dynamic.
namespace apiserver::inline v0::admission::policy {

// Knows the kinds of a server.
class TypeResolver {
 public:
  virtual ~TypeResolver() = default;
  // Returns the kinds that the resource serves. Called by CheckTypes(), on its thread.
  virtual std::vector<runtime::GroupVersionKind> KindsFor(
      const runtime::GroupVersionResource& resource) const = 0;
  // Returns the schema of a kind's objects, without kind and apiVersion. Null: the kind is unknown.
  virtual runtime::SchemaPtr SchemaFor(const runtime::GroupVersionKind& kind) const = 0;
};

// A warning about one expression, as in the status of a policy.
struct ExpressionWarning {
  std::string field_ref;  // "spec.validations[0].expression".
  std::string warning;

  friend bool operator==(const ExpressionWarning&, const ExpressionWarning&) = default;
};

// Checks the validations and messageExpressions of a ValidatingAdmissionPolicy for the kinds that
// its matchConstraints name without wildcards, ten of them at most.
std::vector<ExpressionWarning> CheckTypes(const runtime::Object& policy,
                                          const TypeResolver& resolver);

}  // namespace apiserver::inline v0::admission::policy
