#include "groups/core/scheduling_validation.h"

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "apiserver/meta/label_selector_value.h"
#include "apiserver/meta/validation.h"
#include "groups/core/checks.h"

namespace apiserver::v0::groups::core {
namespace {

using field::ErrorList;
using field::Path;
using runtime::Value;

constexpr std::int64_t kWeightMax = 100;
constexpr char kRequiredDuringScheduling[] = "requiredDuringSchedulingIgnoredDuringExecution";
constexpr char kPreferredDuringScheduling[] = "preferredDuringSchedulingIgnoredDuringExecution";

void CheckOperatorValues(Value requirement, const Path& path, ErrorList& errors) {
  const std::string_view op = requirement["operator"].AsString();
  const std::size_t values = requirement["values"].size();
  const Path at = path.Child("values");
  if (op == "In" || op == "NotIn") {
    if (values == 0) {
      errors.Required(at, "must be specified when `operator` is 'In' or 'NotIn'");
    }
  } else if (op == "Exists" || op == "DoesNotExist") {
    if (values != 0) {
      errors.Forbidden(at, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'");
    }
  } else if (op == "Gt" || op == "Lt") {
    if (values != 1) {
      errors.Required(at, "must be specified single value when `operator` is 'Lt' or 'Gt'");
    }
  } else {
    errors.Invalid(path.Child("operator"), op, "not a valid selector operator");
  }
}

// `any_value`: values need not be those of labels.
void CheckExpression(Value requirement, bool any_value, const Path& path, ErrorList& errors) {
  CheckOperatorValues(requirement, path, errors);
  errors.Append(meta::ValidateLabelName(requirement["key"].AsString(), path.Child("key")));
  if (any_value) return;
  std::size_t i = 0;
  for (const Value& value : requirement["values"].items()) {
    AddComplaints(errors, path.Child("values").Index(i++), value.AsString(),
                  meta::IsValidLabelValue(value.AsString()));
  }
}

void CheckField(Value requirement, const Path& path, ErrorList& errors) {
  const std::string_view op = requirement["operator"].AsString();
  const Value values = requirement["values"];
  if (op == "In" || op == "NotIn") {
    if (values.size() != 1) {
      errors.Required(path.Child("values"),
                      "must be only one value when `operator` is 'In' or 'NotIn' for node field "
                      "selector");
    }
  } else {
    errors.Invalid(path.Child("operator"), op, "not a valid selector operator");
  }
  const std::string_view key = requirement["key"].AsString();
  if (key != "metadata.name") {
    return errors.Invalid(path.Child("key"), key, "not a valid field selector key");
  }
  std::size_t i = 0;
  for (const Value& value : values.items()) {
    CheckDnsSubdomain(errors, path.Child("values").Index(i++), value.AsString());
  }
}

void CheckNodeTerm(Value term, bool any_value, const Path& path, ErrorList& errors) {
  std::size_t i = 0;
  for (const Value& requirement : term["matchExpressions"].items()) {
    CheckExpression(requirement, any_value, path.Child("matchExpressions").Index(i++), errors);
  }
  i = 0;
  for (const Value& requirement : term["matchFields"].items()) {
    CheckField(requirement, path.Child("matchFields").Index(i++), errors);
  }
}

void CheckWeight(Value term, const Path& path, ErrorList& errors) {
  const std::int64_t weight = term["weight"].AsInt();
  if (weight > 0 && weight <= kWeightMax) return;
  InvalidNumber(errors, path.Child("weight"), weight, "must be in the range 1-100");
}

void CheckNodeAffinity(Value affinity, const Path& path, ErrorList& errors) {
  if (const Value needed = affinity[kRequiredDuringScheduling]; !needed.is_null()) {
    const Path at = path.Child(kRequiredDuringScheduling).Child("nodeSelectorTerms");
    if (needed["nodeSelectorTerms"].size() == 0) {
      errors.Required(at, "must have at least one node selector term");
    }
    std::size_t i = 0;
    for (const Value& term : needed["nodeSelectorTerms"].items()) {
      CheckNodeTerm(term, false, at.Index(i++), errors);
    }
  }
  std::size_t i = 0;
  for (const Value& term : affinity[kPreferredDuringScheduling].items()) {
    if (errors.full()) return;
    const Path at = path.Child(kPreferredDuringScheduling).Index(i++);
    CheckWeight(term, at, errors);
    CheckNodeTerm(term["preference"], true, at.Child("preference"), errors);
  }
}

void CheckLabelKeys(Value keys, Value selector, const Path& path, ErrorList& errors) {
  if (keys.size() == 0) return;
  if (selector.is_null()) {
    return errors.Forbidden(path, "must not be specified when labelSelector is not set");
  }
  std::size_t i = 0;
  for (const Value& key : keys.items()) {
    errors.Append(meta::ValidateLabelName(key.AsString(), path.Index(i++)));
  }
}

// Refuses a key that the selector asks for already. What matchLabelKeys stand for has been added
// to the selector by then, so that a key of both is there twice.
void CheckKeysOfSelector(Value match_keys, Value selector, const Path& path, ErrorList& errors) {
  std::map<std::string_view, std::size_t> indexes;
  std::size_t i = 0;
  for (const Value& key : match_keys.items()) indexes[key.AsString()] = i++;
  std::set<std::string_view> seen;
  for (const runtime::Member& label : selector["matchLabels"].members()) seen.insert(label.key);
  for (const Value& expression : selector["matchExpressions"].items()) {
    const std::string_view key = expression["key"].AsString();
    const auto index = indexes.find(key);
    if (index != indexes.end() && seen.contains(key)) {
      errors.Invalid(path.Index(index->second), key,
                     "exists in both matchLabelKeys and labelSelector");
    }
    seen.insert(key);
  }
}

// Follows ValidateMatchLabelKeysAndMismatchLabelKeys.
void CheckMatchKeys(Value owner, const Path& path, ErrorList& errors) {
  const Value match_keys = owner["matchLabelKeys"];
  const Value mismatch_keys = owner["mismatchLabelKeys"];
  const Value selector = owner["labelSelector"];
  CheckLabelKeys(match_keys, selector, path.Child("matchLabelKeys"), errors);
  CheckLabelKeys(mismatch_keys, selector, path.Child("mismatchLabelKeys"), errors);
  CheckKeysOfSelector(match_keys, selector, path, errors);
  std::set<std::string_view> mismatched;
  for (const Value& key : mismatch_keys.items()) mismatched.insert(key.AsString());
  std::size_t i = 0;
  for (const Value& key : match_keys.items()) {
    const std::size_t index = i++;
    if (!mismatched.contains(key.AsString())) continue;
    errors.Invalid(path.Child("matchLabelKeys").Index(index), key.AsString(),
                   "exists in both matchLabelKeys and mismatchLabelKeys");
  }
}

void CheckPodTerm(Value term, const Path& path, ErrorList& errors) {
  for (const char* const selector : {"labelSelector", "namespaceSelector"}) {
    errors.Append(meta::ValidateLabelSelector(term[selector], {}, path.Child(selector)));
  }
  for (const Value& name : term["namespaces"].items()) {
    CheckDnsLabel(errors, path.Child("namespace"), name.AsString());
  }
  CheckMatchKeys(term, path, errors);
  const std::string_view key = term["topologyKey"].AsString();
  if (key.empty()) errors.Required(path.Child("topologyKey"), "can not be empty");
  errors.Append(meta::ValidateLabelName(key, path.Child("topologyKey")));
}

void CheckPodAffinity(Value affinity, const Path& path, ErrorList& errors) {
  std::size_t i = 0;
  for (const Value& term : affinity[kRequiredDuringScheduling].items()) {
    if (errors.full()) return;
    CheckPodTerm(term, path.Child(kRequiredDuringScheduling).Index(i++), errors);
  }
  i = 0;
  for (const Value& term : affinity[kPreferredDuringScheduling].items()) {
    if (errors.full()) return;
    const Path at = path.Child(kPreferredDuringScheduling).Index(i++);
    CheckWeight(term, at, errors);
    CheckPodTerm(term["podAffinityTerm"], at.Child("podAffinityTerm"), errors);
  }
}

void CheckToleration(Value toleration, const Path& path, ErrorList& errors) {
  const std::string_view key = toleration["key"].AsString();
  const std::string_view op = toleration["operator"].AsString();
  const std::string_view value = toleration["value"].AsString();
  const Path at = path.Child("operator");
  if (!key.empty()) errors.Append(meta::ValidateLabelName(key, path.Child("key")));
  if (key.empty() && op != "Exists") {
    errors.Invalid(at, op,
                   "operator must be Exists when `key` is empty, which means \"match all values "
                   "and all keys\"");
  }
  const Value effect = toleration["effect"];
  if (!toleration["tolerationSeconds"].is_null() && effect.AsString() != "NoExecute") {
    errors.Invalid(path.Child("effect"), effect.AsString(),
                   "effect must be 'NoExecute' when `tolerationSeconds` is set");
  }
  if (op.empty() || op == "Equal") {
    std::string why;
    for (const std::string& complaint : meta::IsValidLabelValue(value)) {
      why += (why.empty() ? "" : ";") + complaint;
    }
    if (!why.empty()) errors.Invalid(at, value, why);
  } else if (op == "Exists") {
    if (!value.empty()) {
      errors.Invalid(at, value, "value must be empty when `operator` is 'Exists'");
    }
  } else if (op == "Lt" || op == "Gt") {
    errors.NotSupported(at, op, {"Equal", "Exists", "Lt", "Gt"});
  } else {
    errors.NotSupported(at, op, {"Equal", "Exists"});
  }
  if (effect.size() != 0) CheckTaintEffect(effect, false, path.Child("effect"), errors);
}

void CheckMinDomains(Value constraint, const Path& path, ErrorList& errors) {
  const Value least = constraint["minDomains"];
  if (least.is_null()) return;
  CheckPositive(errors, path, least.AsInt());
  const std::string_view action = constraint["whenUnsatisfiable"].AsString();
  if (action == "DoNotSchedule") return;
  InvalidNumber(
      errors, path, least.AsInt(),
      "can only use minDomains if whenUnsatisfiable=DoNotSchedule, not " + std::string(action));
}

// The key by which constraints differ: topologyKey and whenUnsatisfiable.
using ConstraintKey = std::pair<std::string_view, std::string_view>;

ConstraintKey KeyOf(Value constraint) {
  return {constraint["topologyKey"].AsString(), constraint["whenUnsatisfiable"].AsString()};
}

// `again`: there is another constraint of the same key behind this one.
void CheckSpreadConstraint(Value constraint, bool again, const Path& path, ErrorList& errors) {
  const auto [key, action] = KeyOf(constraint);
  CheckPositive(errors, path.Child("maxSkew"), constraint["maxSkew"].AsInt());
  if (key.empty()) errors.Required(path.Child("topologyKey"), "can not be empty");
  CheckWord(errors, path.Child("whenUnsatisfiable"), action, {"DoNotSchedule", "ScheduleAnyway"});
  if (again) {
    errors.Duplicate(path.Child("{topologyKey, whenUnsatisfiable}"),
                     "{" + std::string(key) + ", " + std::string(action) + "}");
  }
  CheckMinDomains(constraint, path.Child("minDomains"), errors);
  for (const char* const policy : {"nodeAffinityPolicy", "nodeTaintsPolicy"}) {
    if (constraint[policy].is_null()) continue;
    CheckWord(errors, path.Child(policy), constraint[policy].AsString(), {"Honor", "Ignore"});
  }
  CheckMatchKeys(constraint, path, errors);
  errors.Append(
      meta::ValidateLabelSelector(constraint["labelSelector"], {}, path.Child("labelSelector")));
}

}  // namespace

void CheckTaintEffect(Value effect, bool needed, const Path& path, ErrorList& errors) {
  const std::string_view word = effect.AsString();
  if (needed && word.empty()) return errors.Required(path);
  CheckWord(errors, path, word, {"NoSchedule", "PreferNoSchedule", "NoExecute"});
}

void CheckAffinity(Value affinity, const Path& path, ErrorList& errors) {
  if (!affinity["nodeAffinity"].is_null()) {
    CheckNodeAffinity(affinity["nodeAffinity"], path.Child("nodeAffinity"), errors);
  }
  CheckPodAffinity(affinity["podAffinity"], path.Child("podAffinity"), errors);
  CheckPodAffinity(affinity["podAntiAffinity"], path.Child("podAntiAffinity"), errors);
}

void CheckTolerations(Value tolerations, const Path& path, ErrorList& errors) {
  std::size_t i = 0;
  for (const Value& toleration : tolerations.items()) {
    if (errors.full()) return;
    CheckToleration(toleration, path.Index(i++), errors);
  }
}

void CheckSpreadConstraints(Value constraints, const Path& path, ErrorList& errors) {
  std::map<ConstraintKey, std::size_t> last;
  std::size_t i = 0;
  for (const Value& constraint : constraints.items()) last[KeyOf(constraint)] = i++;
  i = 0;
  for (const Value& constraint : constraints.items()) {
    if (errors.full()) return;
    CheckSpreadConstraint(constraint, last[KeyOf(constraint)] > i, path.Index(i), errors);
    ++i;
  }
}

void CheckSchedulingGates(Value gates, const Path& path, ErrorList& errors) {
  std::set<std::string_view> seen;
  std::size_t i = 0;
  for (const Value& gate : gates.items()) {
    const Path at = path.Index(i++);
    CheckQualifiedName(errors, at, gate["name"].AsString());
    if (!seen.insert(gate["name"].AsString()).second) {
      errors.Duplicate(at, gate["name"].AsString());
    }
  }
}

}  // namespace apiserver::v0::groups::core
