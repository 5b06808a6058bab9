#pragma once

#include <memory>
#include <string>
#include <vector>

#include "admission/policy/expressions.h"
#include "admission/policy/match_conditions.h"
#include "apiserver/runtime/object.h"

// The compiled mutations of a MutatingAdmissionPolicy:
// k8s.io/apiserver/pkg/admission/plugin/policy/mutating.
namespace apiserver::inline v0::admission::policy {

// One mutation. Immutable; any thread that may block.
class Mutation {
 public:
  virtual ~Mutation() = default;
  // Returns the object after the mutation, in the version of `object` and before defaults are set;
  // null: it is unchanged. An error with Reason::kInvalid is up to the failure policy, with its
  // message; other errors refuse the request as they are.
  virtual Result<std::unique_ptr<runtime::Object>> Apply(const Context& ctx,
                                                         const Variables& variables,
                                                         const runtime::Object& object) const = 0;
};

// A compiled MutatingAdmissionPolicy.
struct Mutator {
  MatchConditions conditions;
  std::vector<std::shared_ptr<const Mutation>> mutations;
  bool asks_authorizer = false;  // An expression reads `authorizer`.
};

}  // namespace apiserver::inline v0::admission::policy
