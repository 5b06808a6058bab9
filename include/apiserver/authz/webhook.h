#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "apiserver/auth/authorizer.h"
#include "apiserver/auth/rules.h"
#include "apiserver/base/log.h"
#include "apiserver/base/metrics.h"
#include "apiserver/base/status.h"
#include "apiserver/client/webhook.h"

// Authorizes by a SubjectAccessReview at another server:
// k8s.io/apiserver/plugin/pkg/authorizer/webhook.
namespace apiserver::inline v0::authz {

// Options of NewWebhookAuthorizer().
struct WebhookAuthorizerOptions {
  // The webhook; `url` is the one to which reviews are posted, for an API server
  // ".../apis/authorization.k8s.io/v1/subjectaccessreviews". Its `observe` is called too.
  client::WebhookOptions webhook = {};
  std::string version = "v1";  // Or "v1beta1".
  // How long decisions to allow and not to allow are cached. Zero: each request asks.
  std::chrono::nanoseconds authorized_ttl = std::chrono::seconds(10);
  std::chrono::nanoseconds unauthorized_ttl = std::chrono::seconds(10);
  // How long after its TTL a cached decision is still used while the webhook fails. Zero: not at
  // all.
  std::chrono::nanoseconds stale_for{0};
  // The most cached decisions; beyond, the least recently used one is dropped.
  std::size_t cache_entries_max = 8192;
  // The limit of all attempts at one review. Requests with the same attributes share it.
  std::chrono::milliseconds timeout = std::chrono::seconds(30);
  // Reviews a second, and how many may start at once after a pause. Zero: no limit. One that would
  // have to wait longer than `timeout` fails.
  double qps = 0;
  int burst = 400;
  // The decision if the webhook cannot be asked. kNoOpinion: an error, unless another authorizer
  // allows the request. kDeny: the request is denied, and no other authorizer is asked.
  auth::Decision decision_on_error = auth::Decision::kNoOpinion;
  // Conditions in the Common Expression Language, about a SubjectAccessReviewSpec called `request`,
  // 64 at most. If one is false, the webhook is not asked and has no opinion; otherwise one that
  // fails leads to `decision_on_error`. Evaluated on the thread of the request, without waiting.
  std::vector<std::string> match_conditions = {};
  // Null: nothing is counted. Without a name the metrics are those of a delegated authorizer
  // (apiserver_delegated_authz_request_*), with one those of a configured webhook
  // (apiserver_authorization_webhook_*), which is then their label `name`.
  metrics::Registry* metrics = nullptr;
  std::string name = {};
  LogSink* log = &NullLogSink();
};

// Authorizes without holding a thread; see auth/look_up.h. Decisions about attributes that are long
// (10,000 bytes of client-chosen text) are not cached. Objects that the options point to outlive
// the authorizer and its reviews. kInvalid: another version, options that are incomplete, or a
// condition that does not compile.
Result<std::unique_ptr<auth::Authorizer>> NewWebhookAuthorizer(
    const WebhookAuthorizerOptions& options);

// Returns no rules, marked incomplete: a webhook cannot list its rules.
std::unique_ptr<auth::RuleResolver> NewWebhookRules();

}  // namespace apiserver::inline v0::authz
