#include "admission/webhook/plugin.h"

#include <algorithm>
#include <utility>

#include "admission/metrics.h"
#include "apiserver/meta/errors.h"

namespace apiserver::v0::admission {

namespace {

WebhookAdmissionOptions WithDefaults(WebhookAdmissionOptions options) {
  if (options.excluded.empty()) options.excluded = DefaultExcluded();
  return options;
}

// The text of upstream's ErrCallingWebhook, by which clients and dashboards tell these errors.
std::string FailureText(const Webhook& webhook, const CallResult& result) {
  return "failed calling webhook " + field::Quote(webhook.name) + ": " + result.why;
}

// Follows the outcomes that mutating/dispatcher.go and validating/dispatcher.go count.
WebhookOutcome OutcomeOf(const Attributes& attributes, const Webhook& webhook,
                         const CallResult& result) {
  WebhookOutcome outcome{.webhook = webhook.name,
                         .type = webhook.type == WebhookType::kMutating ? "admit" : "validating",
                         .operation = attributes.operation,
                         .took = result.took};
  switch (result.kind) {
    case CallResult::Kind::kAllowed:
      break;
    case CallResult::Kind::kRefused:
      outcome.rejected = true;
      outcome.code = result.status.code();
      break;
    case CallResult::Kind::kFailed:
      // A failure that failurePolicy ignores is no rejection, but it is counted as an error.
      outcome.rejected = !webhook.fail_open;
      outcome.error = WebhookOutcome::Error::kCallingWebhook;
      outcome.code = result.status.code();
      break;
    case CallResult::Kind::kInternal:
      outcome.rejected = true;
      outcome.error = WebhookOutcome::Error::kInternal;
      outcome.code = 0;
      break;
  }
  return outcome;
}

}  // namespace

WebhookDispatcher::WebhookDispatcher(WebhookAdmissionOptions options)
    : options_(WithDefaults(std::move(options))),
      matcher_(options_.namespaces.get()),
      caller_(options_) {}

// Without this exclusion, a webhook that refuses everything could forbid its own removal.
bool WebhookDispatcher::Excluded(const Attributes& attributes) const {
  if (IsAdmissionConfiguration(attributes.kind)) return true;
  const runtime::GroupResource resource = attributes.resource.group_resource();
  return std::ranges::find(options_.excluded, resource) != options_.excluded.end();
}

bool WebhookDispatcher::Idle() const {
  return options_.webhooks->WaitForSync(std::chrono::milliseconds(0)) &&
         options_.webhooks->Get()->empty();
}

Result<std::shared_ptr<const Webhooks>> WebhookDispatcher::WebhooksFor(
    const Attributes& attributes) const {
  static const auto none = std::make_shared<const Webhooks>();
  if (Excluded(attributes)) return none;
  // Refusing is the safe answer as long as the configurations have not been read.
  if (!options_.webhooks->WaitForSync(options_.ready_wait)) {
    return NewForbidden(attributes, "not yet ready to handle request");
  }
  return options_.webhooks->Get();
}

// Called only if failurePolicy is Ignore.
Status WebhookDispatcher::FailOpen(const Context& ctx, const Attributes& attributes,
                                   const Webhook& webhook, const CallResult& result,
                                   Place place) const {
  const bool mutating = webhook.type == WebhookType::kMutating;
  Log(*options_.log, LogLevel::kWarning, "failing open: " + FailureText(webhook, result));
  // A client that went away says nothing about the webhook, so neither metric nor audit counts it.
  if (!result.cancelled) {
    if (attributes.metrics) {
      attributes.metrics->ObserveFailOpen(webhook.name, mutating ? "admit" : "validating");
    }
    const std::string key =
        WebhookAnnotationKey(mutating ? "failed-open.mutation." : "failed-open.validating.", place);
    (void)attributes.annotations->Add(key, webhook.name);
  }
  // The webhook's failure is forgiven, but not that the request's own time is over.
  if (ctx.Err(*options_.clock).ok()) return {};
  return meta::NewTimeoutError("request did not complete within requested timeout", 0);
}

// Counts the result before it decides, so that forgiven failures are counted as well.
Status WebhookDispatcher::Conclude(const Context& ctx, const Attributes& attributes,
                                   const Webhook& webhook, const CallResult& result,
                                   Place place) const {
  if (attributes.metrics) {
    attributes.metrics->ObserveWebhook(OutcomeOf(attributes, webhook, result));
  }
  switch (result.kind) {
    case CallResult::Kind::kAllowed:
      return {};
    case CallResult::Kind::kRefused:
    case CallResult::Kind::kInternal:
      // Only a failed call is up to failurePolicy; a refusal is an answer.
      return result.status;
    case CallResult::Kind::kFailed:
      break;
  }
  if (webhook.fail_open) return FailOpen(ctx, attributes, webhook, result, place);
  Log(*options_.log, LogLevel::kWarning, "failing closed: " + FailureText(webhook, result));
  return meta::NewInternalError(FailureText(webhook, result));
}

// Upstream's keys: round and index keep apart the calls of one webhook in both rounds.
std::string WebhookAnnotationKey(std::string_view prefix, WebhookDispatcher::Place place) {
  return std::string(prefix) + "webhook.admission.k8s.io/round_" + std::to_string(place.round) +
         "_index_" + std::to_string(place.index);
}

}  // namespace apiserver::v0::admission
