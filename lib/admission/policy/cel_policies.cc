#include "admission/policy/cel_policies.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "admission/policy/cel_expressions.h"
#include "admission/policy/cel_mutations.h"
#include "admission/policy/source.h"

namespace apiserver::v0::admission::policy {

namespace {

using runtime::Value;
using OptionalTexts = std::vector<std::optional<std::string_view>>;

// Returns one text of each item, in order: decisions belong to expressions by their places.
OptionalTexts TextsAt(const Value& list, std::string_view key, Composition& composition) {
  OptionalTexts texts;
  for (const Value& item : list.items()) texts.emplace_back(composition.Keep(item[key].AsString()));
  return texts;
}

// Compiles the variables first: all other expressions of the policy may read them.
std::shared_ptr<Composition> CompositionOf(
    const std::shared_ptr<const ExpressionCompiler>& compiler, const Value& spec) {
  auto composition = std::make_shared<Composition>(
      compiler,
      Declarations{.params = !spec["paramKind"].is_null(), .authorizer = true, .variables = true});
  for (const Value& variable : spec["variables"].items()) {
    (void)composition->Add(std::string(variable["name"].AsString()),
                           variable["expression"].AsString(), cel::Mode::kStored);
  }
  return composition;
}

// Unlike when the policy was written, conditions may read variables here, as upstream.
MatchConditionsOptions ConditionsOf(const runtime::Object& policy,
                                    const std::shared_ptr<Composition>& composition) {
  const Value spec = policy["spec"];
  MatchConditionsOptions options{.fail_open = spec["failurePolicy"].AsString() == "Ignore",
                                 .name = std::string(policy.name())};
  const Value conditions = spec["matchConditions"];
  if (conditions.size() == 0) return options;
  const Declarations declarations = composition->declarations();
  options.conditions = CompileList(composition, ExpressionUse::kMatchCondition,
                                   TextsAt(conditions, "expression", *composition), declarations);
  return options;
}

// A reason that this version does not know is the default: the policy still refuses.
Reason ReasonOf(const Value& reason) {
  if (reason.AsString() == "Forbidden") return Reason::kForbidden;
  if (reason.AsString() == "Unauthorized") return Reason::kUnauthorized;
  if (reason.AsString() == "RequestEntityTooLarge") return Reason::kRequestEntityTooLarge;
  return Reason::kInvalid;
}

// Runs on the thread of the source. What does not compile is an error of each evaluation.
std::shared_ptr<const Validator> CompileValidating(
    const std::shared_ptr<const ExpressionCompiler>& compiler, const runtime::Object& policy) {
  const Value spec = policy["spec"];
  const std::shared_ptr<Composition> composition = CompositionOf(compiler, spec);
  const Declarations declarations = composition->declarations();
  ValidatorParts parts{.match_conditions = ConditionsOf(policy, composition),
                       .fail_open = spec["failurePolicy"].AsString() == "Ignore"};
  const Value validations = spec["validations"];
  const OptionalTexts expressions = TextsAt(validations, "expression", *composition);
  OptionalTexts messages;
  parts.validations.reserve(expressions.size());
  for (const Value& validation : validations.items()) {
    parts.validations.push_back({.expression = *expressions[parts.validations.size()],
                                 .message = std::string(validation["message"].AsString()),
                                 .reason = ReasonOf(validation["reason"])});
    const std::string_view message = validation["messageExpression"].AsString();
    messages.emplace_back();
    if (!message.empty()) messages.back() = composition->Keep(message);
  }
  // Most policies have none at all.
  if (std::ranges::none_of(messages, [](const auto& text) { return text.has_value(); })) {
    messages.clear();
  }
  for (const Value& annotation : spec["auditAnnotations"].items()) {
    parts.audit_keys.emplace_back(annotation["key"].AsString());
    parts.audit_texts.emplace_back(annotation["valueExpression"].AsString());
  }
  parts.expressions =
      CompileList(composition, ExpressionUse::kValidation, expressions, declarations);
  Declarations without_authorizer = declarations;
  without_authorizer.authorizer = false;
  parts.messages = CompileList(composition, ExpressionUse::kMessage, messages, without_authorizer);
  parts.audit_annotations =
      CompileList(composition, ExpressionUse::kAuditAnnotation,
                  TextsAt(spec["auditAnnotations"], "valueExpression", *composition), declarations);
  parts.asks_authorizer = composition->asks_authorizer();
  composition->Finish();
  return std::make_shared<const Validator>(std::move(parts));
}

// The order of the mutations is that of the policy, since each sees the result of the last.
std::shared_ptr<const Mutator> CompileMutating(
    const std::shared_ptr<const ExpressionCompiler>& compiler, const runtime::Object& policy) {
  const Value spec = policy["spec"];
  const std::shared_ptr<Composition> composition = CompositionOf(compiler, spec);
  std::vector<std::shared_ptr<const Mutation>> mutations;
  for (const Value& mutation : spec["mutations"].items()) {
    if (mutation["patchType"].AsString() == "JSONPatch") {
      mutations.push_back(
          NewJSONPatchMutation(composition, mutation["jsonPatch"]["expression"].AsString()));
    } else {
      mutations.push_back(
          NewApplyMutation(composition, mutation["applyConfiguration"]["expression"].AsString()));
    }
  }
  MatchConditions conditions(ConditionsOf(policy, composition));
  composition->Finish();
  return std::make_shared<const Mutator>(
      Mutator{std::move(conditions), std::move(mutations), composition->asks_authorizer()});
}

// Checks the expressions of one policy: validate* of the group's validation.
class CelChecker final : public ExpressionChecker {
 public:
  explicit CelChecker(std::shared_ptr<const ExpressionCompiler> compiler)
      : compiler_(std::move(compiler)) {}

  void Check(const Expression& expression, const field::Path& path,
             field::ErrorList& errors) override {
    const CompiledExpression compiled = Compile(expression);
    if (compiled.program) return;
    if (compiled.internal) return errors.Internal(path, compiled.error);
    errors.Invalid(path, expression.bad_value, compiled.error);
  }

 private:
  CompiledExpression Compile(const Expression& expression) {
    const cel::Mode mode = expression.stored ? cel::Mode::kStored : cel::Mode::kNew;
    if (!composition_) {
      // All expressions of a policy say the same about parameters.
      composition_.emplace(
          compiler_,
          Declarations{.params = expression.has_params, .authorizer = true, .variables = true});
    }
    Declarations declarations = composition_->declarations();
    switch (expression.use) {
      case ExpressionUse::kVariable:
        return composition_->Add(std::string(expression.name), expression.text, mode);
      case ExpressionUse::kMatchCondition:
        declarations.variables = false;
        break;
      case ExpressionUse::kMessage:
        declarations.authorizer = false;
        [[fallthrough]];
      case ExpressionUse::kValidation:
      case ExpressionUse::kAuditAnnotation:
        // A policy without variables has not even an empty `variables`, as upstream.
        declarations.variables = !composition_->items().empty();
        break;
      case ExpressionUse::kApplyConfiguration:
      case ExpressionUse::kJSONPatch:
        declarations.patch_types = true;
        break;
    }
    return composition_->Compile(expression.use, expression.text, mode, declarations);
  }

  const std::shared_ptr<const ExpressionCompiler> compiler_;
  std::optional<Composition> composition_;
};

}  // namespace

PolicyCompiler NewPolicyCompiler(PolicyType type) {
  const auto compiler = SharedExpressionCompiler();
  PolicyCompiler made;
  if (type == PolicyType::kValidating) {
    made.validating = [compiler](const runtime::Object& policy) {
      return CompileValidating(compiler, policy);
    };
  } else {
    made.mutating = [compiler](const runtime::Object& policy) {
      return CompileMutating(compiler, policy);
    };
  }
  return made;
}

NewExpressionChecker NewPolicyChecker() {
  const auto compiler = SharedExpressionCompiler();
  return [compiler] { return std::make_unique<CelChecker>(compiler); };
}

}  // namespace apiserver::v0::admission::policy

namespace apiserver::v0::admission {

std::shared_ptr<Policies> NewPolicies(PoliciesOptions options) {
  return policy::NewFollowedPolicies(options, policy::NewPolicyCompiler(options.type));
}

}  // namespace apiserver::v0::admission
