#include "admission/policy/validator.h"

#include <utility>

#include "text/trim.h"

namespace apiserver::v0::admission::policy {

namespace {

// Limits the result of a messageExpression, in bytes; a longer one is not used.
constexpr std::size_t kMessageBytesMax = std::size_t{5} * 1024;

std::string Trimmed(std::string_view text) { return std::string(text::TrimSpace(text)); }

}  // namespace

std::string_view Decision::ErrorType() const {
  if (evaluation == Evaluation::kAdmit) return "no_error";
  if (message.starts_with("compilation")) return "compile_error";
  if (message.starts_with("validation failed due to running out of cost budget")) {
    return "out_of_budget";
  }
  return "invalid_error";
}

Validator::Validator(ValidatorParts parts)
    : parts_(std::move(parts)), conditions_(parts_.match_conditions) {}

ValidateResult Validator::Failed(std::string message) const {
  ValidateResult result;
  result.decisions.push_back(
      {.action = parts_.fail_open ? Decision::Action::kAdmit : Decision::Action::kDeny,
       .evaluation = Decision::Evaluation::kError,
       .message = std::move(message)});
  return result;
}

ValidateResult Validator::Validate(const Context& ctx, const Variables& variables,
                                   Metrics* metrics) const {
  MatchResult match = conditions_.Match(ctx, variables, metrics);
  if (!match.error.empty()) return Failed(std::move(match.error));
  if (!match.matches) return {};

  EvaluatedList results = parts_.expressions->Evaluate(ctx, variables, kCostBudget);
  if (results.failure != EvaluatedList::Failure::kNone) return Failed(std::move(results.message));
  // Messages must not cost calls of an authorizer.
  Variables without_authorizer = variables;
  without_authorizer.authorizer = nullptr;
  const EvaluatedList messages =
      parts_.messages->Evaluate(ctx, without_authorizer, results.remaining);
  ValidateResult made;
  made.decisions.reserve(results.results.size());
  for (std::size_t i = 0; i < results.results.size(); ++i) {
    made.decisions.push_back(Decide(i, results.results[i], messages));
  }
  EvaluatedList annotations =
      parts_.audit_annotations->Evaluate(ctx, without_authorizer, kCostBudget);
  if (annotations.failure != EvaluatedList::Failure::kNone) {
    return Failed(std::move(annotations.message));
  }
  for (std::size_t i = 0; i < annotations.results.size(); ++i) {
    made.audit_annotations.push_back(Annotate(i, annotations.results[i]));
  }
  return made;
}

Decision Validator::Decide(std::size_t index, Evaluated& result,
                           const EvaluatedList& messages) const {
  Decision decision{.elapsed = result.elapsed};
  const auto fail = [&](std::string message) {
    decision.action = parts_.fail_open ? Decision::Action::kAdmit : Decision::Action::kDeny;
    decision.evaluation = Decision::Evaluation::kError;
    decision.message = std::move(message);
    return decision;
  };
  if (result.kind == Evaluated::Kind::kError) return fail(std::move(result.text));
  if (messages.failure != EvaluatedList::Failure::kNone) {
    return fail("failed messageExpression: " + messages.message);
  }
  if (result.kind == Evaluated::Kind::kBool && result.truth) return decision;
  decision.action = Decision::Action::kDeny;
  decision.evaluation = Decision::Evaluation::kDeny;
  decision.reason = parts_.validations[index].reason;
  decision.message = MessageOf(index, messages);
  return decision;
}

std::string Validator::MessageOf(std::size_t index, const EvaluatedList& messages) const {
  const ValidationTexts& texts = parts_.validations[index];
  std::string message;
  if (index < messages.results.size() && messages.results[index].kind == Evaluated::Kind::kString) {
    message = Trimmed(messages.results[index].text);
    // A message that a header or log could not hold is not used.
    const bool unusable =
        message.size() > kMessageBytesMax || message.find('\n') != std::string::npos;
    if (unusable) message.clear();
  }
  if (message.empty()) message = Trimmed(texts.message);
  if (message.empty()) message = "failed expression: " + Trimmed(texts.expression);
  return message;
}

AuditAnnotation Validator::Annotate(std::size_t index, Evaluated& result) const {
  AuditAnnotation made{.key = parts_.audit_keys[index], .elapsed = result.elapsed};
  switch (result.kind) {
    case Evaluated::Kind::kError:
      if (parts_.fail_open) return made;
      made.action = AuditAnnotation::Action::kError;
      made.text = std::move(result.text);
      return made;
    case Evaluated::Kind::kString:
      made.text = Trimmed(result.text);
      if (!made.text.empty()) made.action = AuditAnnotation::Action::kPublish;
      return made;
    case Evaluated::Kind::kNull:
    case Evaluated::Kind::kAbsent:
      return made;
    case Evaluated::Kind::kBool:
    case Evaluated::Kind::kOther:
      break;
  }
  // The compiler accepts no expression that comes here.
  made.action = AuditAnnotation::Action::kError;
  made.text = "valueExpression '" + parts_.audit_texts[index] +
              "' resulted in unsupported return type: " +
              (result.kind == Evaluated::Kind::kBool ? "bool" : result.text) +
              ". Return type must be either string or null.";
  return made;
}

}  // namespace apiserver::v0::admission::policy
