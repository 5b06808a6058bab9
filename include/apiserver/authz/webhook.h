#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>

#include "apiserver/auth/authorizer.h"
#include "apiserver/auth/rules.h"
#include "apiserver/base/log.h"
#include "apiserver/base/metrics.h"
#include "apiserver/base/status.h"
#include "apiserver/client/webhook.h"

// Somebody else decides, by a SubjectAccessReview: k8s.io/apiserver/plugin/pkg/authorizer/webhook.
namespace apiserver::inline v0::authz {

struct WebhookAuthorizerOptions {
  // Whom to ask; `url` is where reviews are posted to, of an API server
  // ".../apis/authorization.k8s.io/v1/subjectaccessreviews". Its `observe` is called too.
  client::WebhookOptions webhook = {};
  std::string version = "v1";  // Or "v1beta1".
  // How long a yes and a no hold. Zero: they are asked for every time.
  std::chrono::nanoseconds authorized_ttl = std::chrono::seconds(10);
  std::chrono::nanoseconds unauthorized_ttl = std::chrono::seconds(10);
  // While the webhook fails, an answer that is older than its TTL by at most this is used. Zero:
  // none is.
  std::chrono::nanoseconds stale_for{0};
  std::size_t cache_entries_max = 8192;  // Least recently used go first.
  // For all attempts at one answer. Requests with the same question share it.
  std::chrono::milliseconds timeout = std::chrono::seconds(30);
  // Questions a second, and at once after a pause; zero: any number. One that would have to wait
  // longer than `timeout` fails.
  double qps = 0;
  int burst = 400;
  // What a webhook that cannot be asked means: kNoOpinion is an error, unless another authorizer
  // allows; kDeny a no that nobody else is asked after.
  auth::Decision decision_on_error = auth::Decision::kNoOpinion;
  // Null: nothing is counted. Without a name the metrics are those of a delegated authorizer
  // (apiserver_delegated_authz_request_*), with one those of a configured webhook
  // (apiserver_authorization_webhook_*), which is then their label `name`.
  metrics::Registry* metrics = nullptr;
  std::string name = {};
  LogSink* log = &NullLogSink();
};

// Asks without holding a thread; see auth/look_up.h. Questions whose parts that a client chooses
// are long (10,000 bytes) are not kept. What the options point to outlives it and its questions.
// kInvalid: another version, or options that are incomplete.
Result<std::unique_ptr<auth::Authorizer>> NewWebhookAuthorizer(
    const WebhookAuthorizerOptions& options);

// It cannot list its rules, and says so.
std::unique_ptr<auth::RuleResolver> NewWebhookRules();

}  // namespace apiserver::inline v0::authz
