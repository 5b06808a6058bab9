#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/base/field_path.h"
#include "apiserver/base/file_system.h"
#include "apiserver/base/status.h"

// The file of --authorization-config: apiserver.config.k8s.io AuthorizationConfiguration, of
// v1alpha1, v1beta1 and v1, which are alike. k8s.io/apiserver/pkg/apis/apiserver and its
// validation.
namespace apiserver::inline v0::authz {

// The credentials and address of a webhook.
struct WebhookConnectionInfo {
  std::string type = {};  // "KubeConfigFile" or "InClusterConfig".
  std::optional<std::string> kube_config_file = {};

  friend bool operator==(const WebhookConnectionInfo&, const WebhookConnectionInfo&) = default;
};

// A webhook of the file.
struct WebhookConfiguration {
  // How long a review that allows, and one that does not, is cached.
  std::chrono::nanoseconds authorized_ttl = std::chrono::minutes(5);
  bool cache_authorized_requests = true;
  std::chrono::nanoseconds unauthorized_ttl = std::chrono::seconds(30);
  bool cache_unauthorized_requests = true;
  std::chrono::nanoseconds timeout{0};                             // Required; 30 s at most.
  std::string subject_access_review_version = {};                  // "v1" or "v1beta1".
  std::string match_condition_subject_access_review_version = {};  // "v1", or nothing.
  std::string failure_policy = {};                                 // "NoOpinion" or "Deny".
  WebhookConnectionInfo connection_info = {};
  std::vector<std::string> match_conditions = {};  // CEL expressions.

  friend bool operator==(const WebhookConfiguration&, const WebhookConfiguration&) = default;
};

// One authorizer of the file.
struct AuthorizerConfiguration {
  std::string type;
  std::string name;  // A label of metrics.
  std::optional<WebhookConfiguration> webhook = {};

  friend bool operator==(const AuthorizerConfiguration&, const AuthorizerConfiguration&) = default;
};

// The whole file.
struct AuthorizationConfiguration {
  std::vector<AuthorizerConfiguration> authorizers = {};  // Asked in this order.

  friend bool operator==(const AuthorizationConfiguration&,
                         const AuthorizationConfiguration&) = default;
};

// The words that are allowed in `type`, sorted.
struct AuthorizerTypes {
  std::vector<std::string> known = {"ABAC", "AlwaysAllow", "AlwaysDeny", "Node", "RBAC", "Webhook"};
  std::vector<std::string> repeatable = {"Webhook"};
};

// As validation.ValidateAuthorizationConfiguration. Faults in `webhook` are reported at their own
// fields, not at `webhook` too. Match conditions are compiled. Kubeconfig files must exist in
// `files`.
field::ErrorList ValidateAuthorizationConfiguration(const AuthorizationConfiguration& config,
                                                    const FileSystem& files,
                                                    const AuthorizerTypes& types = {});

// Parses YAML or JSON strictly, sets defaults and validates; then as kube-apiserver: an authorizer
// that is no webhook is named after its type, in lower case. Node and ABAC, which this server does
// not have, are refused by name. kInvalid: all faults, each with its line and field.
Result<AuthorizationConfiguration> ParseAuthorizationConfiguration(std::string_view text,
                                                                   const FileSystem& files);

}  // namespace apiserver::inline v0::authz
