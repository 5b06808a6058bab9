#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "admission/policy/expressions.h"
#include "admission/policy/match_conditions.h"
#include "apiserver/base/status.h"

// Decisions from the results of expressions:
// k8s.io/apiserver/pkg/admission/plugin/policy/validating/validator.go.
namespace apiserver::inline v0::admission::policy {

// The decision of one validation.
struct Decision {
  enum class Action : std::uint8_t { kAdmit, kDeny };
  enum class Evaluation : std::uint8_t { kAdmit, kError, kDeny };

  Action action = Action::kAdmit;
  Evaluation evaluation = Evaluation::kAdmit;
  std::string message = {};
  Reason reason = Reason::kInvalid;
  std::chrono::nanoseconds elapsed{0};

  // Returns the error_type of metrics, which upstream reads from the message.
  std::string_view ErrorType() const;
};

// The result of one audit annotation's expression.
struct AuditAnnotation {
  enum class Action : std::uint8_t { kPublish, kError, kExclude };

  std::string key = {};
  Action action = Action::kExclude;
  std::string text = {};  // kPublish: the value. kError: the message.
  std::chrono::nanoseconds elapsed{0};
};

// The result of one evaluation of a policy.
struct ValidateResult {
  std::vector<Decision> decisions = {};
  std::vector<AuditAnnotation> audit_annotations = {};
};

// The texts of one validation that its decision needs.
struct ValidationTexts {
  std::string_view expression = {};  // Borrowed; `expressions` may own it.
  std::string message = {};          // Empty: none.
  Reason reason = Reason::kInvalid;
};

// The compiled parts of a ValidatingAdmissionPolicy.
struct ValidatorParts {
  MatchConditionsOptions match_conditions = {};
  std::vector<ValidationTexts> validations = {};
  ExpressionListPtr expressions = nullptr;  // As many as validations. Required.
  // The same number, some of them absent, or none. Required.
  ExpressionListPtr messages = nullptr;
  std::vector<std::string> audit_keys = {};
  std::vector<std::string> audit_texts = {};      // The expressions.
  ExpressionListPtr audit_annotations = nullptr;  // As many as keys. Required.
  bool fail_open = false;                         // failurePolicy: Ignore.
  bool asks_authorizer = false;                   // An expression reads `authorizer`.
};

// A compiled ValidatingAdmissionPolicy. Immutable; any thread that may block.
class Validator {
 public:
  explicit Validator(ValidatorParts parts);

  // Tells if an evaluation may ask the authorizer.
  bool asks_authorizer() const { return parts_.asks_authorizer; }

  // Evaluates the policy once. `metrics` may be null.
  ValidateResult Validate(const Context& ctx, const Variables& variables, Metrics* metrics) const;

 private:
  ValidateResult Failed(std::string message) const;
  Decision Decide(std::size_t index, Evaluated& result, const EvaluatedList& messages) const;
  std::string MessageOf(std::size_t index, const EvaluatedList& messages) const;
  AuditAnnotation Annotate(std::size_t index, Evaluated& result) const;

  const ValidatorParts parts_;
  const MatchConditions conditions_;
};

}  // namespace apiserver::inline v0::admission::policy
