#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/cel/type.h"
#include "apiserver/runtime/schema_node.h"

// What expressions may use: k8s.io/apiserver/pkg/cel/environment.
namespace apiserver::inline v0::cel {

// A minor version of Kubernetes.
struct KubernetesVersion {
  int major = 1;
  int minor = 36;

  friend auto operator<=>(const KubernetesVersion&, const KubernetesVersion&) = default;
};

// The purpose that an environment serves.
enum class Mode : std::uint8_t {
  kNew,     // Text that a client writes now: only what the compatibility version knew.
  kStored,  // Text that is stored already, and configuration files: everything.
};

// A set of functions that only some callers enable. All others come with the version.
enum class Library : std::uint8_t {
  kAuthorizer,  // The functions of kubernetes.authorization.*: policies and webhook conditions.
  kJsonPatch,   // jsonpatch.escapeKey and the type JSONPatch: mutating policies.
};

// A variable that the caller gives a value when it evaluates.
struct Variable {
  std::string name;  // May hold a dot: "authorizer.requestResource".
  Type type;
  // The schema of the variable's values, which bounds the sizes that the cost estimate assumes.
  // Null: the sizes are unknown. Run-time views take theirs from the Value.
  runtime::SchemaPtr schema = nullptr;
};

class EnvironmentState;  // Private: cel/environment_state.h.

// The functions, types and variables that expressions may use. Immutable and shared: copies are
// cheap and may be used by any thread.
class Environment {
 public:
  // Returns the environment of a Kubernetes server without variables. `compatible_with`: the oldest
  // version whose servers must understand a text that is written now; a server of 1.36 passes 1.35.
  // Making it costs some 10 µs: make it once and keep it.
  static Environment Kubernetes(KubernetesVersion compatible_with, Mode mode);

  // Returns this environment with more variables (of two with one name the later counts), struct
  // types that message literals may name, and libraries.
  Environment With(std::vector<Variable> variables, std::vector<Type> types = {},
                   std::vector<Library> libraries = {}) const;

  // The variables by index; Evaluate() takes the values in this order.
  std::size_t variable_count() const;
  const Variable& variable(std::size_t index) const;

  const EnvironmentState& state() const { return *state_; }

 private:
  explicit Environment(std::shared_ptr<const EnvironmentState> state) : state_(std::move(state)) {}
  friend class EnvironmentState;

  std::shared_ptr<const EnvironmentState> state_;
};

}  // namespace apiserver::inline v0::cel
