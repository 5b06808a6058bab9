#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "admission/policy/match_resources.h"
#include "admission/policy/mutator.h"
#include "admission/policy/params.h"
#include "admission/policy/validator.h"
#include "apiserver/runtime/object.h"

// The policies of a server at one time.
namespace apiserver::inline v0::admission::policy {

// A binding, as far as the plugins need it.
struct Binding {
  std::string name = {};
  std::string policy = {};
  std::shared_ptr<const ParamRef> param_ref = nullptr;  // Null: there is none.
  // Null: the binding applies to all requests of its policy.
  std::shared_ptr<const MatchResources> match = nullptr;
  std::vector<std::string> actions = {};  // "Deny", "Warn", "Audit"; for validating policies.
};
using BindingPtr = std::shared_ptr<const Binding>;
// Reads either kind of binding.
BindingPtr BindingOf(const runtime::Object& object);

// A policy, compiled.
struct Policy {
  std::string name = {};
  MatchResources match = {};
  bool fail_open = false;  // failurePolicy: Ignore.
  std::optional<ParamKind> param_kind = std::nullopt;
  bool reinvoke_if_needed = false;                       // reinvocationPolicy: IfNeeded.
  std::shared_ptr<const Validator> validator = nullptr;  // Null: the policy is mutating.
  std::shared_ptr<const Mutator> mutator = nullptr;      // Null: the policy is validating.

  // Tells if an evaluation may ask the authorizer.
  bool asks_authorizer() const {
    return validator ? validator->asks_authorizer() : mutator && mutator->asks_authorizer;
  }
};
using PolicyPtr = std::shared_ptr<const Policy>;
// Compiles the expressions of a policy. Errors of expressions are part of the result.
struct PolicyCompiler {
  std::function<std::shared_ptr<const Validator>(const runtime::Object& policy)> validating;
  std::function<std::shared_ptr<const Mutator>(const runtime::Object& policy)> mutating;
};
// Reads and compiles either kind of policy.
PolicyPtr PolicyOf(const runtime::Object& object, const PolicyCompiler& compiler);

// A policy with its bindings.
struct Hook {
  PolicyPtr policy = nullptr;
  std::vector<BindingPtr> bindings = {};
  // The objects of the policy's paramKind. Null: it has none, or it is unknown.
  std::shared_ptr<const ParamSource> params = nullptr;
  std::string configuration_error = {};  // Empty: none.
};

// Policies that have bindings, ordered by name, and an index of their resources. Immutable; any
// thread.
class Snapshot {
 public:
  explicit Snapshot(std::vector<Hook> hooks);

  const std::vector<Hook>& hooks() const { return hooks_; }
  // Returns the indices, ascending, of the hooks that may match a request by their operations and
  // resources. The cost does not depend on the number of other hooks.
  std::vector<std::uint32_t> Candidates(const Attributes& attributes) const;
  // Returns those of them that may match by the labels of the request's objects, too: for plugins
  // that do not change the object. A hook whose object selector asks for a label that neither state
  // has costs a few nanoseconds.
  std::vector<std::uint32_t> CandidatesByLabels(const Attributes& attributes) const;

 private:
  struct Entry {
    std::uint32_t hook = 0;
    // The mark of a label that the object must have; 0: none is known. Other labels may have it.
    std::uint32_t label = 0;
    std::uint8_t operations = 0;  // A bit for each Operation.
  };
  void Index(std::uint32_t hook);
  // `labels`: marks, ascending, of all labels. Null: hooks are found whatever label they ask for.
  std::vector<std::uint32_t> Find(const Attributes& attributes,
                                  const std::vector<std::uint32_t>* labels) const;

  std::vector<Hook> hooks_;
  // The keys are group and resource, without subresource.
  std::map<std::pair<std::string, std::string>, std::vector<Entry>> by_resource_;
  std::vector<Entry> wildcards_;  // Hooks with "*" as group or resource.
};

}  // namespace apiserver::inline v0::admission::policy
