#include <algorithm>
#include <set>

#include "apiserver/authz/config.h"
#include "apiserver/codec/json.h"
#include "apiserver/meta/validation.h"
#include "apiserver/runtime/time.h"
#include "authz/webhook/conditions.h"

namespace apiserver::v0::authz {
namespace {

using field::ErrorList;
using field::Path;
using std::chrono::nanoseconds;

// The longest timeout that Go's ValidateWebhookConfiguration accepts.
constexpr nanoseconds kTimeoutMax = std::chrono::seconds(30);

bool Contains(const std::vector<std::string>& texts, const std::string& text) {
  return std::ranges::find(texts, text) != texts.end();
}

// `text` must be one of `allowed`.
void CheckChoice(const Path& path, const std::string& text, const std::vector<std::string>& allowed,
                 ErrorList& errors) {
  if (text.empty()) {
    errors.Required(path);
  } else if (!Contains(allowed, text)) {
    errors.NotSupported(path, text, allowed);
  }
}

void CheckDuration(const Path& path, nanoseconds value, nanoseconds most, const std::string& rule,
                   ErrorList& errors) {
  if (value.count() == 0) {
    errors.Required(path);
  } else if (value.count() < 0 || value > most) {
    errors.Invalid(path, runtime::FormatDuration(value), rule);
  }
}

// Does not read the file: a kubeconfig that does not parse is reported when its client is made.
void CheckKubeConfigFile(const Path& path, const std::optional<std::string>& file,
                         const FileSystem& files, ErrorList& errors) {
  if (!file || file->empty()) {
    errors.Required(path);
  } else if (!file->starts_with('/')) {
    errors.Invalid(path, *file, "must be an absolute path");
  } else if (!files.Exists(*file)) {
    errors.Invalid(path, *file, "error loading file: there is no such file");
    // List() succeeds for directories only.
  } else if (files.List(*file).ok()) {
    errors.Invalid(path, *file, "must be a regular file");
  }
}

// As Go prints the struct.
std::string Printed(const WebhookConnectionInfo& info) {
  std::string text = R"({"Type":)";
  codec::AppendJsonString(info.type, text);
  text += R"(,"KubeConfigFile":)";
  if (info.kube_config_file) {
    codec::AppendJsonString(*info.kube_config_file, text);
  } else {
    text += "null";
  }
  return text + "}";
}

void CheckConnection(const Path& path, const WebhookConnectionInfo& info, const FileSystem& files,
                     ErrorList& errors) {
  const Path file = path.Child("kubeConfigFile");
  if (info.type.empty()) {
    errors.Required(path.Child("type"));
  } else if (info.type == "InClusterConfig") {
    if (!info.kube_config_file) return;
    errors.Invalid(file, *info.kube_config_file, "can only be set when type=KubeConfigFile");
  } else if (info.type == "KubeConfigFile") {
    CheckKubeConfigFile(file, info.kube_config_file, files, errors);
  } else {
    errors.NotSupportedPrinted(path.Child("type"), Printed(info),
                               {"InClusterConfig", "KubeConfigFile"});
  }
}

// Follows ValidateWebhookConfiguration of apiserver/validation.
void CheckWebhook(const Path& path, const WebhookConfiguration& webhook, const FileSystem& files,
                  ErrorList& errors) {
  CheckDuration(path.Child("timeout"), webhook.timeout, kTimeoutMax, "must be > 0s and <= 30s",
                errors);
  CheckDuration(path.Child("authorizedTTL"), webhook.authorized_ttl, nanoseconds::max(),
                "must be > 0s", errors);
  CheckDuration(path.Child("unauthorizedTTL"), webhook.unauthorized_ttl, nanoseconds::max(),
                "must be > 0s", errors);
  CheckChoice(path.Child("subjectAccessReviewVersion"), webhook.subject_access_review_version,
              {"v1", "v1beta1"}, errors);
  const std::string& match_version = webhook.match_condition_subject_access_review_version;
  const Path match = path.Child("matchConditionSubjectAccessReviewVersion");
  if (!match_version.empty()) {
    CheckChoice(match, match_version, {"v1"}, errors);
  } else if (!webhook.match_conditions.empty()) {
    errors.Required(match, "required if match conditions are specified");
  }
  CheckChoice(path.Child("failurePolicy"), webhook.failure_policy, {"NoOpinion", "Deny"}, errors);
  CheckConnection(path.Child("connectionInfo"), webhook.connection_info, files, errors);
  (void)CompileAccessConditions(webhook.match_conditions, path.Child("matchConditions"), errors);
}

// Names become values of metric labels, so they must differ.
void CheckName(const Path& path, const std::string& name, const std::set<std::string>& seen,
               ErrorList& errors) {
  if (name.empty()) return errors.Required(path);
  if (seen.contains(name)) return errors.Duplicate(path, name);
  std::string wrong;
  for (const std::string& each : meta::IsDNS1123Subdomain(name)) {
    wrong += (wrong.empty() ? "" : ", ") + each;
  }
  if (!wrong.empty()) errors.Invalid(path, name, "authorizer name is invalid: " + wrong);
}

}  // namespace

// Follows ValidateAuthorizationConfiguration, which reports every fault and not only the first.
ErrorList ValidateAuthorizationConfiguration(const AuthorizationConfiguration& config,
                                             const FileSystem& files,
                                             const AuthorizerTypes& types) {
  ErrorList errors;
  const Path authorizers("authorizers");
  if (config.authorizers.empty()) {
    errors.Required(authorizers, "at least one authorization mode must be defined");
  }
  // Most types may occur once only; `repeatable` has the others, such as Webhook.
  std::set<std::string> seen_types;
  std::set<std::string> seen_names;
  for (std::size_t i = 0; i < config.authorizers.size(); ++i) {
    const AuthorizerConfiguration& one = config.authorizers[i];
    const Path path = authorizers.Index(i);
    if (one.type.empty() || !Contains(types.known, one.type)) {
      CheckChoice(path.Child("type"), one.type, types.known, errors);
      continue;
    }
    if (!seen_types.insert(one.type).second && !Contains(types.repeatable, one.type)) {
      errors.Duplicate(path.Child("type"), one.type);
      continue;
    }
    CheckName(path.Child("name"), one.name, seen_names, errors);
    seen_names.insert(one.name);
    const Path webhook = path.Child("webhook");
    if (one.type != "Webhook") {
      if (!one.webhook) continue;
      errors.Invalid(webhook, "non-null", "may only be specified when type=Webhook");
    } else if (!one.webhook) {
      errors.Required(webhook, "required when type=Webhook");
    } else {
      CheckWebhook(webhook, *one.webhook, files, errors);
    }
  }
  return errors;
}

}  // namespace apiserver::v0::authz
