#pragma once  // Library-internal: other rooms include this header.

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>

#include "apiserver/base/field_path.h"

// The expressions of admission policies, as the validation of policies sees them.
namespace apiserver::inline v0::admission::policy {

// The use of an expression, which decides about its variables and the type of its result.
enum class ExpressionUse : std::uint8_t {
  kMatchCondition,      // Bool; without `variables`.
  kVariable,            // Any type.
  kValidation,          // Bool.
  kMessage,             // String; without authorizer.
  kAuditAnnotation,     // String or null.
  kApplyConfiguration,  // Object.
  kJSONPatch,           // A list of JSONPatch.
};

// An expression of a policy. Its texts are borrowed.
struct Expression {
  ExpressionUse use = ExpressionUse::kValidation;
  // The text to compile.
  std::string_view text = {};
  // The value that errors show, which may have blanks that `text` has not.
  std::string_view bad_value = {};
  // The name of a kVariable, under which later expressions know it.
  std::string_view name = {};
  // True if the policy has a paramKind, and so the variable `params` is declared.
  bool has_params = false;
  // True if the stored policy has this text already: it may then use what a new one may not.
  bool stored = false;
};

// Checks the expressions of one policy in the order of the calls. Used by one thread.
class ExpressionChecker {
 public:
  virtual ~ExpressionChecker() = default;
  // Compiles the expression and appends its errors, in the words of
  // k8s.io/kubernetes/pkg/apis/admissionregistration/validation.
  virtual void Check(const Expression& expression, const field::Path& path,
                     field::ErrorList& errors) = 0;
};

// Makes a checker for one validation of one policy. Called on any thread.
using NewExpressionChecker = std::function<std::unique_ptr<ExpressionChecker>()>;

}  // namespace apiserver::inline v0::admission::policy
