#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "admission/policy/expression.h"
#include "apiserver/cel/compile.h"
#include "apiserver/cel/environment.h"
#include "apiserver/cel/program.h"

// The variables and types of admission's expressions, and their compilation:
// k8s.io/apiserver/pkg/admission/plugin/cel/compile.go and composition.go.
namespace apiserver::inline v0::admission::policy {

// The optional variables of an expression.
struct Declarations {
  bool params = false;
  bool authorizer = false;
  bool patch_types = false;  // Object, JSONPatch and jsonpatch.escapeKey.
  bool variables = false;    // `variables`, also if there are none.

  friend auto operator<=>(const Declarations&, const Declarations&) = default;  // NOLINT: no null
};

// A composited variable of a policy.
struct ComposedVariable {
  std::string name;
  cel::Type type;  // As later expressions see it.
};

// The result of compiling one expression.
struct CompiledExpression {
  std::optional<cel::Program> program = std::nullopt;  // nullopt: there is an error.
  std::string error = {};  // "compilation failed: …", "must evaluate to bool but got int".
  bool internal = false;   // The error is none of the text.
};

// Makes environments and compiles in them. Immutable; any thread. Making one costs about 100 µs, so
// that the policies of a source share it.
class ExpressionCompiler {
 public:
  ExpressionCompiler();

  // Returns the environment of expressions that may read `variables`.
  cel::Environment EnvironmentFor(cel::Mode mode, const Declarations& declarations,
                                  const std::vector<ComposedVariable>& variables) const;
  // Compiles the text for its use.
  CompiledExpression Compile(ExpressionUse use, std::string_view text,
                             const cel::Environment& environment) const;

 private:
  const cel::Environment& BaseFor(cel::Mode mode, const Declarations& declarations) const;

  // The environments by mode and patch types, in this order.
  std::vector<cel::Environment> bases_;
};

// Returns the compiler that all policies, webhooks and checks share; made when it is first used.
std::shared_ptr<const ExpressionCompiler> SharedExpressionCompiler();

// Returns the type that later expressions see of a variable whose result has this type: other types
// than scalars, lists and maps become dyn.
cel::Type ComposedTypeOf(const CompiledExpression& compiled);

// The number of inputs before composited variables: object, oldObject, namespaceObject, request,
// params, authorizer, authorizer.requestResource and variables, in this order.
inline constexpr std::size_t kFixedInputs = 8;
inline constexpr std::size_t kAuthorizerInput = 5;

}  // namespace apiserver::inline v0::admission::policy
