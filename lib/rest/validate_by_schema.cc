#include "rest/validate_by_schema.h"

#include <algorithm>
#include <string>
#include <utility>

#include "apiserver/cel/kind_rules.h"
#include "apiserver/rest/warnings.h"
#include "rest/validate_embedded.h"
#include "rest/validate_scale.h"

namespace apiserver::v0::rest {
namespace {

// Tells if rules cannot rely on the object's shape: hasBlockingErr of apiextensions-apiserver.
bool KeepsRulesFromRunning(const field::Error& error) {
  using Type = field::Error::Type;
  switch (error.type) {
    case Type::kNotSupported:
    case Type::kRequired:
    case Type::kTooLong:
    case Type::kTooMany:
    case Type::kTypeInvalid:
      return true;
    default:
      return false;
  }
}

bool KeepRulesFromRunning(const field::ErrorList& errors) {
  return std::any_of(errors.begin(), errors.end(), KeepsRulesFromRunning);
}

void RunRules(const Context& ctx, const runtime::Object& object, const runtime::Object* old,
              const cel::KindRules& rules, field::ErrorList& errors) {
  cel::RuleFindings findings = rules.Validate(ctx, object, old);
  errors.Append(std::move(findings.errors));
  for (std::string& warning : findings.warnings) AddWarning(ctx, std::move(warning));
}

}  // namespace

field::ErrorList ValidateBySchema(const Context& ctx, const runtime::Object& object,
                                  const runtime::Object* old, const SchemaCheck& check,
                                  const field::ErrorList& others) {
  field::ErrorList errors = old == nullptr ? runtime::ValidateSchemaPart(object, check.part)
                                           : runtime::ValidateSchemaPart(object, *old, check.part);
  const bool custom = object.kind().semantics() == runtime::Semantics::kCustomResource;
  if (custom && check.part != runtime::SchemaPart::kNone) {
    errors.Append(ValidateScale(object, check.part));
    // A status has no embedded resources to check.
    if (check.part == runtime::SchemaPart::kObject) errors.Append(ValidateEmbedded(object));
  }
  const bool ruled = check.rules != nullptr && !check.rules->empty();
  if (!ruled || check.part == runtime::SchemaPart::kNone) return errors;
  if (KeepRulesFromRunning(errors) || (custom && KeepRulesFromRunning(others))) {
    errors.InvalidPrinted({}, "null",
                          "some validation rules were not checked because the object was invalid; "
                          "correct the existing errors to complete validation");
  } else {
    RunRules(ctx, object, old, *check.rules, errors);
  }
  return errors;
}

}  // namespace apiserver::v0::rest
