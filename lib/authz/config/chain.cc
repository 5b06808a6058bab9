#include "authz/config/chain.h"

#include <string>
#include <utility>
#include <vector>

#include "apiserver/auth/user.h"
#include "apiserver/authz/builtin.h"
#include "apiserver/authz/instrumented.h"
#include "apiserver/authz/union.h"
#include "apiserver/authz/webhook.h"
#include "base/status_macros.h"

namespace apiserver::v0::authz {
namespace {

using std::chrono::nanoseconds;

// The address of a webhook's reviews, and the credentials for it.
struct Connection {
  client::ClientConfig config;
  std::string url;
};

// With InClusterConfig the webhook is the cluster's API server, called at its SubjectAccessReview
// resource.
Result<Connection> ConnectionOf(const WebhookConfiguration& webhook,
                                const AuthorizationConfigFileOptions& options) {
  Connection connection;
  if (webhook.connection_info.kube_config_file) {
    // A kubeconfig of a webhook names the webhook itself as its server.
    const std::string& file = *webhook.connection_info.kube_config_file;
    ASSIGN_OR_RETURN(connection.config,
                     client::ReadClientConfigFile(*options.files, file, client::Cleartext::kAllowed,
                                                  options.exec_plug_ins));
    client::WarnOfCleartext(connection.config, file, *options.log);
    connection.url = connection.config.server;
    return connection;
  }
  connection.config = *options.cluster;
  connection.url = connection.config.server + "/apis/authorization.k8s.io/" +
                   webhook.subject_access_review_version + "/subjectaccessreviews";
  return connection;
}

Result<std::unique_ptr<auth::Authorizer>> NewConfiguredWebhook(
    const AuthorizerConfiguration& authorizer, const AuthorizationConfigFileOptions& options) {
  const WebhookConfiguration& webhook = *authorizer.webhook;
  ASSIGN_OR_RETURN(Connection connection, ConnectionOf(webhook, options));
  WebhookAuthorizerOptions made;
  ASSIGN_OR_RETURN(made.webhook.client,
                   client::NewFollowedClient(connection.config, {.new_client = options.new_client,
                                                                 .files = options.files,
                                                                 .executor = options.executor,
                                                                 .clock = options.clock,
                                                                 .log = options.log}));
  made.webhook.url = std::move(connection.url);
  // Rounded up: a timeout below a millisecond would become zero.
  made.webhook.timeout = std::chrono::ceil<std::chrono::milliseconds>(webhook.timeout);
  made.webhook.backoff = options.backoff;
  made.webhook.executor = options.executor;
  made.webhook.clock = options.clock;
  made.version = webhook.subject_access_review_version;
  made.authorized_ttl =
      webhook.cache_authorized_requests ? webhook.authorized_ttl : nanoseconds::zero();
  made.unauthorized_ttl =
      webhook.cache_unauthorized_requests ? webhook.unauthorized_ttl : nanoseconds::zero();
  made.decision_on_error =
      webhook.failure_policy == "Deny" ? auth::Decision::kDeny : auth::Decision::kNoOpinion;
  made.match_conditions = webhook.match_conditions;
  made.metrics = options.metrics;
  made.name = authorizer.name;
  made.log = options.log;
  return NewWebhookAuthorizer(made);
}

// An authorizer of the chain; `rules` is null if it cannot list any.
struct Link {
  std::shared_ptr<const auth::Authorizer> authorizer;
  std::shared_ptr<const auth::RuleResolver> rules;
};

Result<Link> NewLink(const AuthorizerConfiguration& configured,
                     const AuthorizationConfigFileOptions& options) {
  if (configured.type == "AlwaysAllow") return Link{NewAlwaysAllow(), NewAlwaysAllowRules()};
  if (configured.type == "AlwaysDeny") return Link{NewAlwaysDeny(), nullptr};
  if (configured.type == "RBAC") return Link{options.rbac, options.rbac};
  auto webhook = NewConfiguredWebhook(configured, options);
  if (!webhook.ok()) {
    return Status(Reason::kInvalid,
                  "authorizer " + configured.name + ": " + std::string(webhook.status().message()));
  }
  return Link{*std::move(webhook), NewWebhookRules()};
}

}  // namespace

Result<Chain> NewChain(const AuthorizationConfiguration& config,
                       const AuthorizationConfigFileOptions& options) {
  std::vector<std::shared_ptr<const auth::Authorizer>> authorizers;
  std::vector<std::shared_ptr<const auth::RuleResolver>> rules;
  // Always first, as in Go's reloadable authorizer: a wrong file must not lock the administrator
  // out.
  authorizers.push_back(NewPrivilegedGroups({std::string(auth::kSystemPrivilegedGroup)}));
  for (const AuthorizerConfiguration& configured : config.authorizers) {
    ASSIGN_OR_RETURN(Link link, NewLink(configured, options));
    if (options.metrics != nullptr) {
      link.authorizer = NewInstrumented(configured.type, configured.name,
                                        std::move(link.authorizer), *options.metrics);
    }
    authorizers.push_back(std::move(link.authorizer));
    if (link.rules) rules.push_back(std::move(link.rules));
  }
  return Chain{NewUnion(std::move(authorizers)), NewRuleResolverUnion(std::move(rules))};
}

}  // namespace apiserver::v0::authz
