#include "groups/admissionregistration/validation.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apiserver/client/webhook_config.h"
#include "apiserver/codec/json.h"
#include "apiserver/meta/label_selector_value.h"
#include "apiserver/meta/validation.h"
#include "groups/admissionregistration/match_validation.h"
#include "groups/admissionregistration/rules_validation.h"

namespace apiserver::v0::groups::admissionregistration {

namespace {

using field::ErrorList;
using field::Path;
using runtime::Value;
using Texts = std::vector<std::string>;

// The rules, which are relaxed for an object that was stored before they existed.
struct WebhookRules {
  bool require_no_side_effects = true;
  bool require_known_review_version = true;
  bool require_unique_names = true;
  bool allow_invalid_label_value = false;
  bool ignore_match_conditions = false;
  // The match conditions of the stored object.
  std::set<std::string_view> stored_conditions = {};
};

bool HasNoSideEffects(const Value& webhook) {
  const std::string_view effects = webhook["sideEffects"].AsString();
  return effects == "None" || effects == "NoneOnDryRun";
}

bool IsKnownVersion(std::string_view version) { return version == "v1" || version == "v1beta1"; }

bool HasKnownVersion(const Value& webhook) {
  return std::ranges::any_of(webhook["admissionReviewVersions"].items(), [](const Value& version) {
    return IsKnownVersion(version.AsString());
  });
}

bool HasInvalidSelector(const Value& webhook) {
  return !meta::ValidateLabelSelector(webhook["namespaceSelector"], {}, Path()).empty() ||
         !meta::ValidateLabelSelector(webhook["objectSelector"], {}, Path()).empty();
}

// True if an update changes no match condition: those that were valid before do not become invalid
// by a change of something else.
bool SameConditions(const Value& webhooks, const Value& old) {
  if (webhooks.size() != old.size()) return false;
  for (std::size_t i = 0; i < old.size(); ++i) {
    if (!(webhooks.at(i)["matchConditions"] == old.at(i)["matchConditions"])) return false;
  }
  return true;
}

WebhookRules RulesAfter(const runtime::Object& old) {
  // An update must be possible without repairing the whole object first, as upstream: each rule
  // that the stored object breaks is off for all of its webhooks.
  WebhookRules rules;
  std::set<std::string_view> names;
  for (const Value& webhook : old["webhooks"].items()) {
    if (!HasNoSideEffects(webhook)) rules.require_no_side_effects = false;
    const bool has_versions = webhook["admissionReviewVersions"].size() > 0;
    if (has_versions && !HasKnownVersion(webhook)) rules.require_known_review_version = false;
    if (!names.insert(webhook["name"].AsString()).second) rules.require_unique_names = false;
    if (HasInvalidSelector(webhook)) rules.allow_invalid_label_value = true;
    for (const Value& condition : webhook["matchConditions"].items()) {
      rules.stored_conditions.insert(condition["expression"].AsString());
    }
  }
  return rules;
}

// Checks as IsFullyQualifiedName of util/validation does.
void CheckName(const Path& path, std::string_view name, ErrorList& errors) {
  if (name.empty()) return errors.Required(path);
  const meta::Complaints complaints = meta::IsDNS1123Subdomain(name);
  if (!complaints.empty()) {
    std::string all;
    for (const std::string& complaint : complaints) all += (all.empty() ? "" : ",") + complaint;
    return errors.Invalid(path, name, std::move(all));
  }
  if (std::ranges::count(name, '.') < 2) {
    errors.Invalid(path, name, "should be a domain with at least three segments separated by dots");
  }
}

void CheckOneOf(const Value& webhook, std::string_view key, const Path& path,
                const Texts& supported, ErrorList& errors) {
  const Value value = webhook[key];
  if (value.is_null() || std::ranges::find(supported, value.AsString()) != supported.end()) return;
  errors.NotSupported(path.Child(key), value.AsString(), supported);
}

void CheckSideEffects(const Value& webhook, const WebhookRules& rules, const Path& path,
                      ErrorList& errors) {
  // v1 requires webhooks that a dry run may call; v1beta1 had the other two.
  const Texts none = {"None", "NoneOnDryRun"};
  const Texts all = {"None", "NoneOnDryRun", "Some", "Unknown"};
  const Texts& allowed = rules.require_no_side_effects ? none : all;
  if (webhook["sideEffects"].is_null()) {
    std::string words;
    for (const std::string& word : allowed) words += (words.empty() ? "" : ", ") + word;
    return errors.Required(path.Child("sideEffects"), "must specify one of " + words);
  }
  CheckOneOf(webhook, "sideEffects", path, allowed, errors);
}

void CheckClientConfig(const Value& config, const Path& path, ErrorList& errors) {
  const Value url = config["url"];
  const Value service = config["service"];
  // Both or none would leave open where the webhook is.
  if (url.is_null() == service.is_null()) {
    return errors.Required(path, "exactly one of url or service is required");
  }
  if (!url.is_null()) {
    errors.Append(client::ValidateWebhookURL(path.Child("url"), url.AsString()));
    return;
  }
  std::optional<std::string> url_path;
  if (!service["path"].is_null()) url_path = std::string(service["path"].AsString());
  errors.Append(client::ValidateWebhookService(
      path.Child("service"), service["namespace"].AsString(), service["name"].AsString(), url_path,
      static_cast<int>(service["port"].AsInt())));
}

void CheckTimeout(const Value& webhook, const Path& path, ErrorList& errors) {
  const Value timeout = webhook["timeoutSeconds"];
  // A request waits for each of its webhooks.
  if (timeout.is_null() || (timeout.AsInt() >= 1 && timeout.AsInt() <= 30)) return;
  errors.InvalidPrinted(path.Child("timeoutSeconds"), std::to_string(timeout.AsInt()),
                        "the timeout value must be between 1 and 30 seconds");
}

void CheckSelectors(const Value& webhook, const WebhookRules& rules, const Path& path,
                    ErrorList& errors) {
  const meta::LabelSelectorValidationOptions options{.allow_invalid_label_value =
                                                         rules.allow_invalid_label_value};
  for (const char* selector : {"namespaceSelector", "objectSelector"}) {
    errors.Append(meta::ValidateLabelSelector(webhook[selector], options, path.Child(selector)));
  }
}

void CheckReviewVersions(const Value& versions, const WebhookRules& rules, const Path& path,
                         ErrorList& errors) {
  if (versions.size() == 0) return errors.Required(path, "must specify one of v1, v1beta1");
  std::set<std::string_view> seen;
  bool known = false;
  for (std::size_t i = 0; i < versions.size() && !errors.full(); ++i) {
    const std::string_view version = versions.at(i).AsString();
    if (!seen.insert(version).second) {
      errors.Invalid(path.Index(i), version, "duplicate version");
      continue;
    }
    for (std::string& complaint : meta::IsDNS1035Label(version)) {
      errors.Invalid(path.Index(i), version, std::move(complaint));
    }
    if (IsKnownVersion(version)) known = true;
  }
  if (known || !rules.require_known_review_version) return;
  std::string printed;
  codec::AppendJson(versions, printed);
  errors.InvalidPrinted(path, std::move(printed), "must include at least one of v1, v1beta1");
}

void CheckWebhook(const Value& webhook, bool mutating, const WebhookRules& rules, const Path& path,
                  ErrorList& errors) {
  CheckName(path.Child("name"), webhook["name"].AsString(), errors);
  const Value own_rules = webhook["rules"];
  for (std::size_t i = 0; i < own_rules.size() && !errors.full(); ++i) {
    ValidateRuleWithOperations(own_rules.at(i), path.Child("rules").Index(i), errors);
  }
  CheckOneOf(webhook, "failurePolicy", path, {"Fail", "Ignore"}, errors);
  CheckOneOf(webhook, "matchPolicy", path, {"Equivalent", "Exact"}, errors);
  CheckSideEffects(webhook, rules, path, errors);
  CheckTimeout(webhook, path, errors);
  CheckSelectors(webhook, rules, path, errors);
  if (mutating) CheckOneOf(webhook, "reinvocationPolicy", path, {"IfNeeded", "Never"}, errors);
  CheckClientConfig(webhook["clientConfig"], path.Child("clientConfig"), errors);
}

ErrorList Check(const runtime::Object& configuration, const WebhookRules& rules,
                admission::policy::ExpressionChecker& checker) {
  const bool mutating = configuration.kind().kind() == "MutatingWebhookConfiguration";
  ErrorList errors = meta::ValidateObjectMeta(configuration.metadata(), /*namespaced=*/false,
                                              &meta::NameIsDNSSubdomain, Path("metadata"));
  std::set<std::string_view> names;
  const Value webhooks = configuration["webhooks"];
  for (std::size_t i = 0; i < webhooks.size() && !errors.full(); ++i) {
    const Path path = Path("webhooks").Index(i);
    const Value webhook = webhooks.at(i);
    CheckWebhook(webhook, mutating, rules, path, errors);
    if (!rules.ignore_match_conditions) {
      ValidateMatchConditions(
          {.conditions = webhook["matchConditions"], .stored = rules.stored_conditions},
          path.Child("matchConditions"), checker, errors);
    }
    CheckReviewVersions(webhook["admissionReviewVersions"], rules,
                        path.Child("admissionReviewVersions"), errors);
    const std::string_view name = webhook["name"].AsString();
    // A missing name has been reported already.
    if (!rules.require_unique_names || name.empty()) continue;
    if (!names.insert(name).second) errors.Duplicate(path.Child("name"), name);
  }
  return errors;
}

}  // namespace

ErrorList ValidateConfiguration(const runtime::Object& configuration,
                                admission::policy::ExpressionChecker& checker) {
  return Check(configuration, WebhookRules(), checker);
}

ErrorList ValidateConfigurationUpdate(const runtime::Object& configuration,
                                      const runtime::Object& old,
                                      admission::policy::ExpressionChecker& checker) {
  WebhookRules rules = RulesAfter(old);
  rules.ignore_match_conditions = SameConditions(configuration["webhooks"], old["webhooks"]);
  return Check(configuration, rules, checker);
}

}  // namespace apiserver::v0::groups::admissionregistration
