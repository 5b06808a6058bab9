#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/base/status.h"
#include "apiserver/meta/selector.h"
#include "apiserver/runtime/names.h"
#include "apiserver/runtime/object.h"

// The parameters of policies: CollectParams of
// k8s.io/apiserver/pkg/admission/plugin/policy/generic/policy_dispatcher.go.
namespace apiserver::inline v0::admission::policy {

// The objects of one kind of parameters. Any thread.
class ParamSource {
 public:
  virtual ~ParamSource() = default;
  // True if the objects are in namespaces.
  virtual bool namespaced() const = 0;
  // Waits until the objects have been listed once. False: `timeout` passed first.
  virtual bool WaitForSync(std::chrono::milliseconds timeout) const = 0;
  // Returns an object. Null: there is none. `ns` is empty for a cluster-scoped kind.
  virtual runtime::ObjectPtr Get(std::string_view ns, std::string_view name) const = 0;
  // Returns the objects of a namespace, or of a cluster-scoped kind, that `selector` selects.
  virtual std::vector<runtime::ObjectPtr> List(std::string_view ns,
                                               const meta::LabelSelector& selector) const = 0;
};

// The paramRef of a binding.
struct ParamRef {
  std::string name = {};
  std::string namespace_ = {};
  std::optional<Result<meta::LabelSelector>> selector = std::nullopt;
  bool deny_if_not_found = false;  // parameterNotFoundAction: Deny.
};

// The paramKind of a policy.
struct ParamKind {
  std::string api_version = {};
  std::string kind = {};
};

// Returns the parameters of one binding for a request in namespace `ns`. The policy is evaluated
// for each; null stands for no parameter. Empty: the binding does not apply. Waits up to a second
// for the first list of the objects. Errors are of configuration, with a message only. `kind` and
// `ref` may be null; `source` is null if the kind is unknown.
Result<std::vector<runtime::ObjectPtr>> CollectParams(const ParamKind* kind, const ParamRef* ref,
                                                      const ParamSource* source,
                                                      std::string_view ns);

}  // namespace apiserver::inline v0::admission::policy
