#include "groups/admissionregistration/policy_validation.h"

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apiserver/codec/json.h"
#include "apiserver/meta/validation.h"
#include "groups/admissionregistration/match_validation.h"
#include "text/ascii.h"
#include "text/trim.h"

namespace apiserver::v0::groups::admissionregistration {

namespace {

using admission::policy::Expression;
using admission::policy::ExpressionChecker;
using admission::policy::ExpressionUse;
using field::ErrorList;
using field::Path;
using runtime::Value;
using text::TrimSpace;
using Texts = std::vector<std::string>;

constexpr std::size_t kAuditAnnotationsMax = 20;
// Less than the limit of an annotation's value: expressions that join texts make longer ones.
constexpr std::size_t kValueExpressionBytesMax = std::size_t{5} * 1024;

void CheckOneOf(const Value& value, const Path& path, const Texts& supported, ErrorList& errors) {
  if (std::ranges::find(supported, value.AsString()) != supported.end()) return;
  errors.NotSupported(path, value.AsString(), supported);
}

bool HasLineBreak(std::string_view text) { return text.find_first_of("\r\n") != text.npos; }

// The identifiers of the Common Expression Language, without its reserved words.
bool IsCelIdentifier(std::string_view name) {
  static const std::set<std::string_view> reserved = {
      "true",     "false",   "null",      "in",       "as",  "break",  "const",
      "continue", "else",    "for",       "function", "if",  "import", "let",
      "loop",     "package", "namespace", "return",   "var", "void",   "while"};
  if (name.empty() || text::IsDigit(name.front()) || reserved.contains(name)) return false;
  return std::ranges::all_of(
      name, [](char c) { return c == '_' || text::IsLetter(c) || text::IsDigit(c); });
}

// The texts of one list of expressions.
using TextSet = std::set<std::string_view>;
TextSet TextsOf(const Value& list, std::string_view key) {
  TextSet texts;
  for (const Value& item : list.items()) texts.insert(item[key].AsString());
  return texts;
}

// The expressions that the stored policy has. Each use looks into the set that upstream gives it:
// a variable into that of validations, a JSON Patch into that of apply configurations.
struct StoredTexts {
  TextSet match_conditions;
  TextSet validations;
  TextSet messages;
  TextSet audit_annotations;
  TextSet apply_configurations;

  explicit StoredTexts(const runtime::Object* old) {
    if (old == nullptr) return;
    const Value spec = (*old)["spec"];
    match_conditions = TextsOf(spec["matchConditions"], "expression");
    validations = TextsOf(spec["validations"], "expression");
    messages = TextsOf(spec["validations"], "messageExpression");
    audit_annotations = TextsOf(spec["auditAnnotations"], "valueExpression");
    for (const Value& mutation : spec["mutations"].items()) {
      apply_configurations.insert(mutation["applyConfiguration"]["expression"].AsString());
    }
  }
};

// Validates the spec of one policy.
class PolicySpec {
 public:
  PolicySpec(const runtime::Object& policy, const runtime::Object* old, ExpressionChecker& checker,
             ErrorList& errors)
      : policy_(policy),
        spec_(policy["spec"]),
        old_(old),
        stored_(old),
        has_params_(!spec_["paramKind"].is_null()),
        checker_(checker),
        errors_(errors) {}

  void Check() {
    const bool mutating = policy_.kind().kind() == "MutatingAdmissionPolicy";
    CheckFailurePolicy();
    if (has_params_) ValidateParamKind(spec_["paramKind"], path_.Child("paramKind"), errors_);
    CheckMatchConstraints(mutating);
    // Conditions that were valid before do not become invalid by a change of something else.
    if (!MatchConditionsUnchanged()) {
      ValidateMatchConditions({.conditions = spec_["matchConditions"],
                               .has_params = has_params_,
                               .stored = stored_.match_conditions},
                              path_.Child("matchConditions"), checker_, errors_);
    }
    Each("variables", [this](const Value& item, const Path& at) { CheckVariable(item, at); });
    if (mutating) return CheckMutating();
    CheckValidating();
  }

 private:
  template <class F>
  void Each(const char* key, const F& check) {
    const Value list = spec_[key];
    for (std::size_t i = 0; i < list.size() && !errors_.full(); ++i) {
      check(list.at(i), path_.Child(key).Index(i));
    }
  }

  void Compile(ExpressionUse use, std::string_view text, std::string_view bad_value, bool stored,
               const Path& path) {
    checker_.Check({.use = use,
                    .text = text,
                    .bad_value = bad_value,
                    .has_params = has_params_,
                    .stored = stored},
                   path, errors_);
  }

  void CheckFailurePolicy() {
    const Value policy = spec_["failurePolicy"];
    const Path path = path_.Child("failurePolicy");
    if (policy.is_null()) return errors_.Required(path);
    CheckOneOf(policy, path, {"Fail", "Ignore"}, errors_);
  }

  void CheckMatchConstraints(bool mutating) {
    const Value match = spec_["matchConstraints"];
    const Path path = path_.Child("matchConstraints");
    if (match.is_null()) return errors_.Required(path);
    ValidateMatchResources(match, path, errors_);
    // A rule at least is needed for the types of the objects.
    if (match["resourceRules"].size() == 0) errors_.Required(path.Child("resourceRules"));
    if (mutating) ValidateMutatingOperations(match, path, errors_);
  }

  bool MatchConditionsUnchanged() const {
    if (old_ == nullptr) return false;
    const Value before = (*old_)["spec"];
    return before["paramKind"] == spec_["paramKind"] &&
           before["matchConditions"] == spec_["matchConditions"];
  }

  void CheckQualifiedName(std::string_view name, const Path& path) {
    for (std::string& complaint : meta::IsQualifiedName(name)) {
      errors_.Invalid(path, name, std::move(complaint));
    }
  }

  void CheckVariable(const Value& variable, const Path& path) {
    const std::string_view name = variable["name"].AsString();
    if (TrimSpace(name).empty()) {
      errors_.Required(path.Child("name"), "name is not specified");
    } else if (!IsCelIdentifier(name)) {
      errors_.Invalid(path.Child("name"), name, "must be a valid CEL identifier");
    }
    const std::string_view text = variable["expression"].AsString();
    const Path at = path.Child("expression");
    if (TrimSpace(text).empty()) return errors_.Required(at, "expression is not specified");
    checker_.Check({.use = ExpressionUse::kVariable,
                    .text = text,
                    .bad_value = text,
                    .name = name,
                    .has_params = has_params_,
                    .stored = stored_.validations.contains(text)},
                   at, errors_);
  }

  void CheckValidating() {
    const Value annotations = spec_["auditAnnotations"];
    if (spec_["validations"].size() == 0 && annotations.size() == 0) {
      const char* const why = "validations or auditAnnotations must contain at least one item";
      errors_.Required(path_.Child("validations"), why);
      return errors_.Required(path_.Child("auditAnnotations"), why);
    }
    Each("validations", [this](const Value& item, const Path& at) { CheckValidation(item, at); });
    if (annotations.size() > kAuditAnnotationsMax) {
      errors_.InvalidPrinted(path_.Child("auditAnnotations"), PrintedAnnotations(annotations),
                             "must not have more than 20 auditAnnotations");
    }
    std::set<std::string_view> keys;
    Each("auditAnnotations", [&](const Value& annotation, const Path& path) {
      CheckAuditAnnotation(annotation, path);
      const std::string_view key = annotation["key"].AsString();
      if (!keys.insert(key).second) errors_.Duplicate(path.Child("key"), key);
    });
  }

  void CheckValidation(const Value& validation, const Path& path) {
    // The text keeps its blanks, so that the columns of errors are those of the policy.
    const std::string_view text = validation["expression"].AsString();
    if (TrimSpace(text).empty()) {
      errors_.Required(path.Child("expression"), "expression is not specified");
    } else {
      Compile(ExpressionUse::kValidation, text, text, stored_.validations.contains(text),
              path.Child("expression"));
    }
    CheckMessageExpression(validation["messageExpression"].AsString(),
                           path.Child("messageExpression"));
    const std::string_view message = validation["message"].AsString();
    const std::string_view trimmed = TrimSpace(message);
    if (!message.empty() && trimmed.empty()) {
      errors_.Invalid(path.Child("message"), message, "must be non-empty if specified");
    } else if (HasLineBreak(trimmed)) {
      errors_.Invalid(path.Child("message"), message, "must not contain line breaks");
    }
    const Value reason = validation["reason"];
    if (reason.is_null()) return;
    CheckOneOf(reason, path.Child("reason"), {"Forbidden", "Invalid", "RequestEntityTooLarge"},
               errors_);
  }

  void CheckMessageExpression(std::string_view text, const Path& path) {
    if (text.empty()) return;
    if (TrimSpace(text).empty()) {
      return errors_.Invalid(path, text, "must be non-empty if specified");
    }
    Compile(ExpressionUse::kMessage, text, text, stored_.messages.contains(text), path);
  }

  void CheckAuditAnnotation(const Value& annotation, const Path& path) {
    const std::string_view key = annotation["key"].AsString();
    if (policy_.name().empty()) {
      errors_.Invalid(path.Child("key"), key, "requires metadata.name be non-empty");
    } else {
      CheckQualifiedName(std::string(policy_.name()) + "/" + std::string(key), path.Child("key"));
    }
    const std::string_view text = annotation["valueExpression"].AsString();
    const std::string_view trimmed = TrimSpace(text);
    const Path at = path.Child("valueExpression");
    if (trimmed.empty()) return errors_.Required(at, "valueExpression is not specified");
    if (trimmed.size() > kValueExpressionBytesMax) {
      return errors_.Required(at, "must not exceed 5120 bytes in length");
    }
    Compile(ExpressionUse::kAuditAnnotation, trimmed, text,
            stored_.audit_annotations.contains(text), at);
  }

  // Prints Go's internal type, whose fields have no JSON names.
  static std::string PrintedAnnotations(const Value& annotations) {
    std::string text = "[";
    for (const Value& annotation : annotations.items()) {
      text += text.size() > 1 ? R"(,{"Key":)" : R"({"Key":)";
      codec::AppendJsonString(annotation["key"].AsString(), text);
      text += R"(,"ValueExpression":)";
      codec::AppendJsonString(annotation["valueExpression"].AsString(), text);
      text += "}";
    }
    return text + "]";
  }

  void CheckMutating() {
    if (spec_["mutations"].size() == 0) {
      errors_.Required(path_.Child("mutations"), "mutations must contain at least one item");
    }
    Each("mutations", [this](const Value& item, const Path& at) { CheckMutation(item, at); });
    const Value again = spec_["reinvocationPolicy"];
    const Path path = path_.Child("reinvocationPolicy");
    if (again.AsString().empty()) return errors_.Required(path);
    CheckOneOf(again, path, {"IfNeeded", "Never"}, errors_);
  }

  // The two forms of a patch: its type, its field and its use.
  struct PatchForm {
    std::string_view type;
    const char* field;
    ExpressionUse use;
  };

  void CheckMutation(const Value& mutation, const Path& path) {
    static constexpr PatchForm kApply{"ApplyConfiguration", "applyConfiguration",
                                      ExpressionUse::kApplyConfiguration};
    static constexpr PatchForm kJSONPatch{"JSONPatch", "jsonPatch", ExpressionUse::kJSONPatch};
    const Value type = mutation["patchType"];
    if (type.AsString().empty()) return errors_.Required(path.Child("patchType"));
    if (type.AsString() == kJSONPatch.type) return CheckPatch(mutation, kJSONPatch, kApply, path);
    if (type.AsString() == kApply.type) return CheckPatch(mutation, kApply, kJSONPatch, path);
    CheckOneOf(type, path.Child("patchType"), {"ApplyConfiguration", "JSONPatch"}, errors_);
  }

  void CheckPatch(const Value& mutation, const PatchForm& form, const PatchForm& other,
                  const Path& path) {
    const std::string when = " specified when patchType is " + std::string(form.type);
    if (mutation[form.field].is_null()) {
      errors_.Required(path.Child(form.field), "must be" + when);
    } else {
      const std::string_view whole = mutation[form.field]["expression"].AsString();
      const std::string_view text = TrimSpace(whole);
      const Path at = path.Child(form.field).Child("expression");
      if (text.empty()) errors_.Required(at);
      if (!text.empty()) {
        Compile(form.use, text, text, stored_.apply_configurations.contains(whole), at);
      }
    }
    if (mutation[other.field].is_null()) return;
    errors_.Invalid(path.Child(other.field), "{" + std::string(other.field) + "}",
                    "must not be" + when);
  }

  const runtime::Object& policy_;
  const Value spec_;
  const runtime::Object* const old_;
  const StoredTexts stored_;
  const bool has_params_;
  ExpressionChecker& checker_;
  ErrorList& errors_;
  const Path path_{"spec"};
};

ErrorList MetadataErrors(const runtime::Object& object) {
  return meta::ValidateObjectMeta(object.metadata(), /*namespaced=*/false,
                                  &meta::NameIsDNSSubdomain, Path("metadata"));
}

void CheckValidationActions(const Value& actions, const Path& path, ErrorList& errors) {
  std::set<std::string_view> seen;
  for (std::size_t i = 0; i < actions.size() && !errors.full(); ++i) {
    const std::string_view action = actions.at(i).AsString();
    CheckOneOf(actions.at(i), path.Index(i), {"Audit", "Deny", "Warn"}, errors);
    if (!seen.insert(action).second) errors.Duplicate(path.Index(i), action);
  }
  if (seen.contains("Deny") && seen.contains("Warn")) {
    std::string printed;
    codec::AppendJson(actions, printed);
    errors.InvalidPrinted(
        path, std::move(printed),
        "must not contain both Deny and Warn (repeating the same validation failure information in "
        "the API response and headers serves no purpose)");
  }
  if (seen.empty()) errors.Required(path, "at least one validation action is required");
}

}  // namespace

ErrorList ValidatePolicy(const runtime::Object& policy, const runtime::Object* old,
                         ExpressionChecker& checker) {
  ErrorList errors = MetadataErrors(policy);
  PolicySpec(policy, old, checker, errors).Check();
  return errors;
}

ErrorList ValidatePolicyBinding(const runtime::Object& binding) {
  ErrorList errors = MetadataErrors(binding);
  const bool mutating = binding.kind().kind() == "MutatingAdmissionPolicyBinding";
  const Value spec = binding["spec"];
  const Path path("spec");
  const std::string_view policy = spec["policyName"].AsString();
  if (policy.empty()) errors.Required(path.Child("policyName"));
  if (!policy.empty()) {
    for (std::string& complaint : meta::NameIsDNSSubdomain(policy, /*prefix=*/false)) {
      errors.Invalid(path.Child("policyName"), policy, std::move(complaint));
    }
  }
  ValidateParamRef(spec["paramRef"], path.Child("paramRef"), errors);
  ValidateMatchResources(spec["matchResources"], path.Child("matchResources"), errors);
  if (mutating) {
    ValidateMutatingOperations(spec["matchResources"], path.Child("matchResources"), errors);
  } else {
    CheckValidationActions(spec["validationActions"], path.Child("validationActions"), errors);
  }
  return errors;
}

}  // namespace apiserver::v0::groups::admissionregistration
