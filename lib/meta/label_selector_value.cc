#include "apiserver/meta/label_selector_value.h"

#include <string>
#include <string_view>
#include <utility>

#include "apiserver/meta/validation.h"

namespace apiserver::v0::meta {

namespace {

using runtime::Value;

void ValidateTerm(const Value& term, const LabelSelectorValidationOptions& options,
                  const field::Path& path, field::ErrorList& errors) {
  const std::string_view op = term["operator"].AsString();
  const Value values = term["values"];
  if (op == "In" || op == "NotIn") {
    if (values.size() == 0) {
      errors.Required(path.Child("values"), "must be specified when `operator` is 'In' or 'NotIn'");
    }
  } else if (op == "Exists" || op == "DoesNotExist") {
    if (values.size() > 0) {
      errors.Forbidden(path.Child("values"),
                       "may not be specified when `operator` is 'Exists' or 'DoesNotExist'");
    }
  } else {
    errors.Invalid(path.Child("operator"), op, "not a valid selector operator");
  }
  errors.Append(ValidateLabelName(term["key"].AsString(), path.Child("key")));
  if (options.allow_invalid_label_value) return;
  for (std::size_t i = 0; i < values.size() && !errors.full(); ++i) {
    const std::string_view value = values.at(i).AsString();
    for (std::string& complaint : IsValidLabelValue(value)) {
      errors.Invalid(path.Child("values").Index(i), value, std::move(complaint));
    }
  }
}

// Formats one term for LabelSelector::Parse(). The caller has validated its texts, so that none of
// them can be taken for another term.
std::string TermText(const Value& term) {
  std::string key(term["key"].AsString());
  const std::string_view op = term["operator"].AsString();
  if (op == "Exists") return key;
  if (op == "DoesNotExist") return "!" + key;
  std::string text = key + (op == "In" ? " in (" : " notin (");
  for (const Value& value : term["values"].items()) {
    if (text.back() != '(') text += ',';
    text += value.AsString();
  }
  return text + ")";
}

}  // namespace

field::ErrorList ValidateLabelSelector(Value selector,
                                       const LabelSelectorValidationOptions& options,
                                       const field::Path& path) {
  field::ErrorList errors = ValidateLabels(selector["matchLabels"], path.Child("matchLabels"));
  const Value terms = selector["matchExpressions"];
  for (std::size_t i = 0; i < terms.size() && !errors.full(); ++i) {
    ValidateTerm(terms.at(i), options, path.Child("matchExpressions").Index(i), errors);
  }
  return errors;
}

Result<LabelSelector> LabelSelectorAsSelector(Value selector) {
  const field::ErrorList errors = ValidateLabelSelector(selector, {}, field::Path());
  if (!errors.empty()) return Status(Reason::kInvalid, errors.Aggregate());
  // Built as text and parsed, so that both forms of a selector are one type and match alike.
  std::string text;
  const auto add = [&text](const std::string& term) { text += (text.empty() ? "" : ",") + term; };
  for (const runtime::Member& label : selector["matchLabels"].members()) {
    add(std::string(label.key) + "=" + std::string(label.value.AsString()));
  }
  for (const Value& term : selector["matchExpressions"].items()) add(TermText(term));
  return LabelSelector::Parse(text);
}

}  // namespace apiserver::v0::meta
