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

struct WebhookConnectionInfo {
  std::string type = {};  // "KubeConfigFile" or "InClusterConfig".
  std::optional<std::string> kube_config_file = {};

  friend bool operator==(const WebhookConnectionInfo&, const WebhookConnectionInfo&) = default;
};

struct WebhookConfiguration {
  // Of a review that allows, and of one that does not.
  std::chrono::nanoseconds authorized_ttl = std::chrono::minutes(5);
  bool cache_authorized_requests = true;
  std::chrono::nanoseconds unauthorized_ttl = std::chrono::seconds(30);
  bool cache_unauthorized_requests = true;
  std::chrono::nanoseconds timeout{0};                             // Required; 30 s at most.
  std::string subject_access_review_version = {};                  // "v1" or "v1beta1".
  std::string match_condition_subject_access_review_version = {};  // "v1", or nothing.
  std::string failure_policy = {};                                 // "NoOpinion" or "Deny".
  WebhookConnectionInfo connection_info = {};
  std::vector<std::string> match_conditions = {};  // Expressions; refused, see below.

  friend bool operator==(const WebhookConfiguration&, const WebhookConfiguration&) = default;
};

struct AuthorizerConfiguration {
  std::string type;
  std::string name;  // In metrics.
  std::optional<WebhookConfiguration> webhook = {};

  friend bool operator==(const AuthorizerConfiguration&, const AuthorizerConfiguration&) = default;
};

struct AuthorizationConfiguration {
  std::vector<AuthorizerConfiguration> authorizers = {};  // Asked in this order.

  friend bool operator==(const AuthorizationConfiguration&,
                         const AuthorizationConfiguration&) = default;
};

// What may stand in `type`, sorted.
struct AuthorizerTypes {
  std::vector<std::string> known = {"ABAC", "AlwaysAllow", "AlwaysDeny", "Node", "RBAC", "Webhook"};
  std::vector<std::string> repeatable = {"Webhook"};
};

// As validation.ValidateAuthorizationConfiguration, but that matchConditions are refused as a
// whole: they are CEL expressions, which this server does not evaluate. What is wrong in `webhook`
// is reported there, not beside it. Kubeconfig files must be in `files`.
field::ErrorList ValidateAuthorizationConfiguration(const AuthorizationConfiguration& config,
                                                    const FileSystem& files,
                                                    const AuthorizerTypes& types = {});

// YAML or JSON, strictly decoded, defaulted and validated; then as kube-apiserver: an authorizer
// that is no webhook is named as its type, in lower case. Node and ABAC, which there are not here,
// are refused by name. kInvalid: all that is wrong, each with its line and field.
Result<AuthorizationConfiguration> ParseAuthorizationConfiguration(std::string_view text,
                                                                   const FileSystem& files);

}  // namespace apiserver::inline v0::authz
