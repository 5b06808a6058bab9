#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "admission/policy/late_value.h"
#include "apiserver/admission/admission.h"
#include "apiserver/auth/authorizer.h"
#include "apiserver/base/context.h"
#include "apiserver/cel/evaluate.h"
#include "apiserver/runtime/value.h"

// The evaluation of expressions, as policies and match conditions use it:
// k8s.io/apiserver/pkg/admission/plugin/cel.
namespace apiserver::inline v0::admission::policy {

// Limits of the cost of expressions: k8s.io/apiserver/pkg/apis/cel/config.go.
inline constexpr std::int64_t kCostBudget = 10'000'000;
inline constexpr std::int64_t kMatchConditionsCostBudget = 2'500'000;

// The values of the variables. They must live until the evaluation is over.
struct Variables {
  runtime::Value object = {};      // With kind and apiVersion; null: a delete.
  runtime::Value old_object = {};  // Null: a create.
  LateValue request = {};          // An AdmissionRequest without uid and objects.
  // The same for match conditions, whose `request.resource` is the requested one even if the policy
  // matched another version.
  LateValue condition_request = {};
  runtime::Value params = {};       // Null: there are none.
  LateValue namespace_object = {};  // Null: the object is cluster-scoped.
  // Answers checks. Null: `authorizer` is not bound.
  const auth::Authorizer* authorizer = nullptr;
  // Memory for evaluations, reused without freeing. Null: each list has its own.
  cel::Scratch* scratch = nullptr;
  // The request, for `authorizer` and `authorizer.requestResource`.
  const Attributes* attributes = nullptr;
};

// The result of one expression.
struct Evaluated {
  enum class Kind : std::uint8_t {
    kAbsent,  // There is no expression at this place.
    kError,   // `text` has the message.
    kBool,
    kString,
    kNull,
    kOther,  // `text` has the name of the type.
  };
  Kind kind = Kind::kAbsent;
  bool truth = false;
  std::string text = {};
  std::chrono::nanoseconds elapsed{0};
};

// The results of a list of expressions.
struct EvaluatedList {
  // The failure that ended the evaluation; the list is then empty.
  enum class Failure : std::uint8_t { kNone, kOutOfBudget, kInternal };

  std::vector<Evaluated> results = {};
  std::int64_t remaining = 0;  // The budget that is left.
  Failure failure = Failure::kNone;
  std::string message = {};  // The text of the failure.
};

// Compiled expressions of one use, evaluated in order under one budget. Immutable; any thread that
// may block.
class ExpressionList {
 public:
  virtual ~ExpressionList() = default;
  // Evaluates all expressions; one that fails does not end the others. Composited variables are
  // evaluated once for all of them.
  virtual EvaluatedList Evaluate(const Context& ctx, const Variables& variables,
                                 std::int64_t budget) const = 0;
};
using ExpressionListPtr = std::shared_ptr<const ExpressionList>;

}  // namespace apiserver::inline v0::admission::policy
