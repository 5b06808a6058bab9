#include "groups/rbac/label_selector.h"

#include <string>
#include <string_view>

#include "apiserver/meta/validation.h"

namespace apiserver::inline v0::groups::rbac {
namespace {

using field::ErrorList;
using field::Path;
using runtime::Value;

void CheckRequirement(const Value& requirement, const Path& path, ErrorList& errors) {
  const std::string_view op = requirement["operator"].AsString();
  const Value values = requirement["values"];
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
  errors.Append(meta::ValidateLabelName(requirement["key"].AsString(), path.Child("key")));
  std::size_t index = 0;
  for (const Value& value : values.items()) {
    const Path at = path.Child("values").Index(index++);
    for (const std::string& complaint : meta::IsValidLabelValue(value.AsString())) {
      errors.Invalid(at, value.AsString(), complaint);
    }
  }
}

// Of a valid requirement, whose texts have no commas and no brackets.
std::string TextOfRequirement(const Value& requirement) {
  std::string key(requirement["key"].AsString());
  const std::string_view op = requirement["operator"].AsString();
  if (op == "Exists") return key;
  if (op == "DoesNotExist") return "!" + key;
  std::string text = key + (op == "In" ? " in (" : " notin (");
  for (const Value& value : requirement["values"].items()) {
    if (text.back() != '(') text += ',';
    text += value.AsString();
  }
  return text + ")";
}

}  // namespace

ErrorList ValidateLabelSelector(const Value& selector, const Path& path) {
  ErrorList errors = meta::ValidateLabels(selector["matchLabels"], path.Child("matchLabels"));
  std::size_t index = 0;
  for (const Value& requirement : selector["matchExpressions"].items()) {
    CheckRequirement(requirement, path.Child("matchExpressions").Index(index++), errors);
  }
  return errors;
}

Result<meta::LabelSelector> LabelSelectorOf(const Value& selector) {
  const ErrorList errors = ValidateLabelSelector(selector, Path("selector"));
  if (!errors.empty()) return Status(Reason::kBadRequest, errors.Aggregate());
  std::string text;
  const auto add = [&text](const std::string& requirement) {
    if (!text.empty()) text += ',';
    text += requirement;
  };
  for (const runtime::Member& label : selector["matchLabels"].members()) {
    add(std::string(label.key) + "=" + std::string(label.value.AsString()));
  }
  for (const Value& requirement : selector["matchExpressions"].items()) {
    add(TextOfRequirement(requirement));
  }
  return meta::LabelSelector::Parse(text);
}

}  // namespace apiserver::inline v0::groups::rbac
