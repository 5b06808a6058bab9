#include "groups/admissionregistration/match_validation.h"

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apiserver/meta/label_selector_value.h"
#include "apiserver/meta/validation.h"
#include "codec/type_meta.h"
#include "groups/admissionregistration/rules_validation.h"
#include "text/ascii.h"
#include "text/trim.h"

namespace apiserver::v0::groups::admissionregistration {

namespace {

using field::ErrorList;
using field::Path;
using runtime::Value;

constexpr std::size_t kMatchConditionsMax = 64;

void CheckNamedRule(const Value& rule, const Path& path, ErrorList& errors) {
  const Value names = rule["resourceNames"];
  const Path names_path = path.Child("resourceNames");
  std::set<std::string_view> seen;
  for (std::size_t i = 0; i < names.size() && !errors.full(); ++i) {
    const std::string_view name = names.at(i).AsString();
    for (std::string& complaint : meta::IsPathSegmentName(name)) {
      errors.Invalid(names_path.Index(i), name, std::move(complaint));
    }
    if (!seen.insert(name).second) errors.Duplicate(names_path.Index(i), name);
  }
  ValidateRuleWithOperations(rule, path, errors);
}

void CheckNamedRules(const Value& rules, const Path& path, ErrorList& errors) {
  for (std::size_t i = 0; i < rules.size() && !errors.full(); ++i) {
    CheckNamedRule(rules.at(i), path.Index(i), errors);
  }
}

void CheckSelector(const Value& selector, const Path& path, ErrorList& errors) {
  // The default is {}: only an explicit null of a stored object arrives here.
  if (selector.is_null()) return errors.Required(path);
  errors.Append(meta::ValidateLabelSelector(selector, {}, path));
}

std::string Joined(const meta::Complaints& complaints) {
  std::string all;
  for (const std::string& complaint : complaints) all += (all.empty() ? "" : ",") + complaint;
  return all;
}

std::string Lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (text::IsLetter(c)) c = static_cast<char>(c | 0x20);
  }
  return lower;
}

void CheckParamVersion(std::string_view text, const Path& path, ErrorList& errors) {
  if (text.empty()) return errors.Required(path);
  const auto parsed = codec::ParseGroupVersion(text);
  if (!parsed.ok()) return errors.Invalid(path, text, std::string(parsed.status().message()));
  if (!parsed->group.empty()) {
    const meta::Complaints complaints = meta::IsDNS1123Subdomain(parsed->group);
    if (!complaints.empty()) errors.Invalid(path, parsed->group, Joined(complaints));
  }
  if (parsed->version.empty()) return errors.Invalid(path, text, "version must be specified");
  const meta::Complaints complaints = meta::IsDNS1035Label(parsed->version);
  if (!complaints.empty()) errors.Invalid(path, parsed->version, Joined(complaints));
}

}  // namespace

void ValidateMatchResources(const Value& match, const Path& path, ErrorList& errors) {
  if (match.is_null()) return;
  static const std::vector<std::string> policies = {"Equivalent", "Exact"};
  const Value policy = match["matchPolicy"];
  if (policy.is_null()) {
    errors.Required(path.Child("matchPolicy"));
  } else if (std::ranges::find(policies, policy.AsString()) == policies.end()) {
    errors.NotSupported(path.Child("matchPolicy"), policy.AsString(), policies);
  }
  CheckSelector(match["namespaceSelector"], path.Child("namespaceSelector"), errors);
  CheckSelector(match["objectSelector"], path.Child("objectSelector"), errors);
  CheckNamedRules(match["resourceRules"], path.Child("resourceRules"), errors);
  CheckNamedRules(match["excludeResourceRules"], path.Child("excludeResourceRules"), errors);
}

void ValidateMutatingOperations(const Value& match, const Path& path, ErrorList& errors) {
  static const std::vector<std::string> supported = {"*", "CONNECT", "CREATE", "UPDATE"};
  // The path names no index, as upstream.
  const Path at = path.Child("resourceRules").Child("operations");
  for (const Value& rule : match["resourceRules"].items()) {
    for (const Value& operation : rule["operations"].items()) {
      if (errors.full()) return;
      if (std::ranges::find(supported, operation.AsString()) != supported.end()) continue;
      errors.NotSupported(at, operation.AsString(), supported);
    }
  }
}

void ValidateParamKind(const Value& kind, const Path& path, ErrorList& errors) {
  CheckParamVersion(kind["apiVersion"].AsString(), path.Child("apiVersion"), errors);
  const std::string_view name = kind["kind"].AsString();
  if (name.empty()) return errors.Required(path.Child("kind"));
  const meta::Complaints complaints = meta::IsDNS1035Label(Lower(name));
  if (complaints.empty()) return;
  errors.Invalid(path.Child("kind"), name,
                 "may have mixed case, but should otherwise match: " + Joined(complaints));
}

void ValidateParamRef(const Value& ref, const Path& path, ErrorList& errors) {
  if (ref.is_null()) return;
  const std::string_view name = ref["name"].AsString();
  const Value selector = ref["selector"];
  const char* const exclusive = "name and selector are mutually exclusive";
  if (!name.empty()) {
    for (std::string& complaint : meta::IsPathSegmentName(name)) {
      errors.Invalid(path.Child("name"), name, std::move(complaint));
    }
    if (!selector.is_null()) errors.Forbidden(path.Child("name"), exclusive);
  }
  if (!selector.is_null()) {
    errors.Append(meta::ValidateLabelSelector(selector, {}, path.Child("selector")));
    if (!name.empty()) errors.Forbidden(path.Child("selector"), exclusive);
  }
  if (name.empty() && selector.is_null()) {
    errors.Required(path, "one of name or selector must be specified");
  }
  const std::string_view action = ref["parameterNotFoundAction"].AsString();
  const Path action_path = path.Child("parameterNotFoundAction");
  if (action.empty()) return errors.Required(action_path);
  if (action != "Deny" && action != "Allow") {
    errors.NotSupported(action_path, action, {"Deny", "Allow"});
  }
}

void ValidateMatchConditions(const MatchConditionList& list, const Path& path,
                             admission::policy::ExpressionChecker& checker, ErrorList& errors) {
  const Value& conditions = list.conditions;
  if (conditions.size() > kMatchConditionsMax) {
    errors.TooMany(path, conditions.size(), kMatchConditionsMax);
  }
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < conditions.size() && !errors.full(); ++i) {
    const Value& condition = conditions.at(i);
    const Path at = path.Index(i);
    const std::string_view text = text::TrimSpace(condition["expression"].AsString());
    if (text.empty()) {
      errors.Required(at.Child("expression"));
    } else {
      checker.Check({.use = admission::policy::ExpressionUse::kMatchCondition,
                     .text = text,
                     .bad_value = text,
                     .has_params = list.has_params,
                     .stored = list.stored.contains(text)},
                    at.Child("expression"), errors);
    }
    const std::string_view name = condition["name"].AsString();
    if (name.empty()) {
      errors.Required(at.Child("name"));
      continue;
    }
    for (std::string& complaint : meta::IsQualifiedName(name)) {
      errors.Invalid(at.Child("name"), name, std::move(complaint));
    }
    if (!names.insert(name).second) errors.Duplicate(at.Child("name"), name);
  }
}

}  // namespace apiserver::v0::groups::admissionregistration
