#include <algorithm>
#include <cctype>
#include <utility>

#include "apiserver/authz/config.h"
#include "base/status_macros.h"
#include "codec/config_members.h"

namespace apiserver::v0::authz {
namespace {

using codec::ConfigMembers;
using codec::ConfigReader;
using codec::MembersOf;
using field::Path;
using runtime::Value;

WebhookConnectionInfo ReadConnection(ConfigReader& reader, const Path& path, Value value) {
  WebhookConnectionInfo info;
  const auto members = MembersOf(reader, path, value, {"type", "kubeConfigFile"});
  if (!members) return info;
  info.type = members->Text("type");
  if (!value["kubeConfigFile"].is_null()) info.kube_config_file = members->Text("kubeConfigFile");
  return info;
}

// Absent durations keep their defaults, which WebhookConfiguration has as members.
WebhookConfiguration ReadWebhook(ConfigReader& reader, const Path& path, Value value) {
  reader.CheckFields(
      path, value,
      {"authorizedTTL", "cacheAuthorizedRequests", "unauthorizedTTL", "cacheUnauthorizedRequests",
       "timeout", "subjectAccessReviewVersion", "matchConditionSubjectAccessReviewVersion",
       "failurePolicy", "connectionInfo", "matchConditions"});
  const ConfigMembers members(reader, path, value);
  WebhookConfiguration webhook;
  webhook.authorized_ttl = members.Duration("authorizedTTL", webhook.authorized_ttl);
  webhook.cache_authorized_requests = members.Bool("cacheAuthorizedRequests", true);
  webhook.unauthorized_ttl = members.Duration("unauthorizedTTL", webhook.unauthorized_ttl);
  webhook.cache_unauthorized_requests = members.Bool("cacheUnauthorizedRequests", true);
  webhook.timeout = members.Duration("timeout", webhook.timeout);
  webhook.subject_access_review_version = members.Text("subjectAccessReviewVersion");
  webhook.match_condition_subject_access_review_version =
      members.Text("matchConditionSubjectAccessReviewVersion");
  webhook.failure_policy = members.Text("failurePolicy");
  webhook.connection_info =
      ReadConnection(reader, path.Child("connectionInfo"), value["connectionInfo"]);
  for (const auto& item : reader.Items(path.Child("matchConditions"), value["matchConditions"])) {
    if (!reader.IsMap(item.path, item.value)) continue;
    reader.CheckFields(item.path, item.value, {"expression"});
    webhook.match_conditions.push_back(
        reader.Text(item.path.Child("expression"), item.value["expression"]));
  }
  return webhook;
}

AuthorizerConfiguration ReadAuthorizer(ConfigReader& reader, const Path& path, Value value) {
  AuthorizerConfiguration authorizer;
  const auto members = MembersOf(reader, path, value, {"type", "name", "webhook"});
  if (!members) return authorizer;
  authorizer.type = members->Text("type");
  authorizer.name = members->Text("name");
  const Path webhook = path.Child("webhook");
  if (reader.IsMap(webhook, value["webhook"])) {
    authorizer.webhook = ReadWebhook(reader, webhook, value["webhook"]);
  }
  return authorizer;
}

// Types of authorizers are ASCII.
std::string Lower(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

// Checks the rules of kube-apiserver itself, and refuses what this server does not have.
void CheckServed(ConfigReader& reader, const AuthorizationConfiguration& config) {
  for (std::size_t i = 0; i < config.authorizers.size(); ++i) {
    const AuthorizerConfiguration& one = config.authorizers[i];
    const Path path = Path("authorizers").Index(i);
    if (one.type == "Node" || one.type == "ABAC") {
      reader.Wrong(path.Child("type"),
                   "is " + one.type +
                       ", which this server does not have; leave it out, or ask a "
                       "webhook that has it");
    } else if (one.type != "Webhook" && one.name != Lower(one.type)) {
      reader.Wrong(path.Child("name"), "is wrong: expected name " + Lower(one.type) +
                                           " for authorizer " + one.type + " instead of " +
                                           one.name);
    }
  }
}

}  // namespace

Result<AuthorizationConfiguration> ParseAuthorizationConfiguration(std::string_view text,
                                                                   const FileSystem& files) {
  ConfigReader reader(text);
  ASSIGN_OR_RETURN(const Value root,
                   reader.Parse("AuthorizationConfiguration",
                                {"apiserver.config.k8s.io/v1", "apiserver.config.k8s.io/v1beta1",
                                 "apiserver.config.k8s.io/v1alpha1"}));
  reader.CheckFields(Path(), root, {"apiVersion", "kind", "authorizers"});
  AuthorizationConfiguration config;
  for (const auto& item : reader.Items(Path("authorizers"), root["authorizers"])) {
    config.authorizers.push_back(ReadAuthorizer(reader, item.path, item.value));
  }
  // A value that could not be read has been reported; its absence is no second fault.
  RETURN_IF_ERROR(reader.Outcome());
  reader.Wrong(ValidateAuthorizationConfiguration(config, files));
  RETURN_IF_ERROR(reader.Outcome());
  CheckServed(reader, config);
  RETURN_IF_ERROR(reader.Outcome());
  return config;
}

}  // namespace apiserver::v0::authz
