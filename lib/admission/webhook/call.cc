#include "admission/webhook/call.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "apiserver/meta/errors.h"
#include "apiserver/rest/warnings.h"
#include "client/webhook_answer.h"

namespace apiserver::v0::admission {

namespace {

using std::chrono::milliseconds;

CallResult NotCalled(const std::string& why) {
  return CallResult::Failed("failed to call webhook: " + why,
                            meta::NewServiceUnavailable("error calling webhook"));
}

CallResult NotCalled(const Status& status) {
  CallResult result = NotCalled(std::string(status.message()));
  result.status = status;
  return result;
}

// Refuses a dry run if the webhook may have side effects.
// Follows the check of both Go dispatchers: only None and NoneOnDryRun promise not to act on a dry
// run.
std::optional<CallResult> CheckSideEffects(const Attributes& attributes, const Webhook& webhook) {
  if (!attributes.dry_run) return std::nullopt;
  if (webhook.side_effects.empty()) {
    return CallResult::Failed("Webhook SideEffects is nil",
                              meta::NewBadRequest("Webhook SideEffects is nil"));
  }
  if (webhook.side_effects == "None" || webhook.side_effects == "NoneOnDryRun") return std::nullopt;
  return CallResult::Internal(meta::NewBadRequest(
      "admission webhook " + field::Quote(webhook.name) + " does not support dry run"));
}

// Returns whole seconds, rounded up, as they are sent to the webhook.
// A webhook never reads a limit of 0.
std::string TimeoutText(milliseconds time) {
  return std::to_string((time.count() + 999) / 1000) + "s";
}

}  // namespace

void DescribeCall(const Attributes& attributes, const Invocation& invocation,
                  const WebhookCall& call, trace::Span& span) {
  if (!span.recording()) return;
  const runtime::GroupVersionResource& resource = attributes.resource;
  span.SetAttribute("configuration", invocation.webhook->configuration);
  span.SetAttribute("webhook", invocation.webhook->name);
  // Printed as Go prints a GroupVersionResource.
  span.SetAttribute("resource",
                    resource.group + "/" + resource.version + ", Resource=" + resource.resource);
  span.SetAttribute("subresource", attributes.subresource);
  span.SetAttribute("operation", std::string(OperationName(attributes.operation)));
  span.SetAttribute("UID", call.review.uid);
}

// nullopt: the request's own time is over.
std::optional<milliseconds> WebhookCaller::TimeFor(const Context& ctx,
                                                   const Webhook& webhook) const {
  milliseconds time = webhook.timeout;
  if (const auto deadline = ctx.deadline()) {
    time = std::min(time, std::chrono::duration_cast<milliseconds>(*deadline - clock_.Now()));
  }
  if (time.count() <= 0) return std::nullopt;
  return time;
}

std::variant<WebhookCall, CallResult> WebhookCaller::Prepare(const Context& ctx,
                                                             const Attributes& attributes,
                                                             const Invocation& invocation,
                                                             const ReviewObjects& objects) {
  const Webhook& webhook = *invocation.webhook;
  if (auto refused = CheckSideEffects(attributes, webhook)) return *std::move(refused);
  auto review = NewReview(attributes, invocation, objects, random_);
  if (!review.ok()) {
    return CallResult::Failed(
        "could not create admission objects: " + std::string(review.status().message()),
        meta::NewBadRequest("error creating admission objects"));
  }
  const auto address = clients_.For(webhook.client_config);
  if (!address.ok()) {
    return CallResult::Failed(
        "could not get REST client: " + std::string(address.status().message()),
        meta::NewInternalError(address.status().message()));
  }
  const auto time = TimeFor(ctx, webhook);
  if (!time) return NotCalled("Post \"" + address->url + "\": context deadline exceeded");
  client::HttpRequest request{.method = "POST",
                              .url = address->url + "?timeout=" + TimeoutText(*time),
                              .headers = {{"Content-Type", "application/json"},
                                          {"Accept", "application/json"},
                                          {"User-Agent", "kube-apiserver-admission"}},
                              // The query tells the webhook for how long this server waits, as
                              // upstream's does.
                              .body = std::exchange(review->json, {}),
                              .timeout = *time};
  return WebhookCall{
      .review = *std::move(review), .client = address->client, .request = std::move(request)};
}

CallResult WebhookCaller::Judge(const Context& ctx, const Attributes& attributes,
                                const Webhook& webhook, const WebhookCall& call,
                                const Result<http::ClientResponse>& response) const {
  if (!response.ok()) {
    CallResult failed = NotCalled(client::TransportError(call.request.url, response.status()));
    const Status ended = ctx.Err(clock_);
    // Only the client's going away is no fault of the webhook; its own timeout is.
    failed.cancelled = !ended.ok() && ended.reason() != Reason::kTimeout;
    return failed;
  }
  if (const Status error = client::ErrorOfAnswer(*response); !error.ok()) return NotCalled(error);
  if (const Status unusable = client::CheckWebhookBody(*response); !unusable.ok()) {
    return NotCalled(std::string(unusable.message()));
  }
  Result<ReviewAnswer> answer = DecodeReview(response->body);
  if (!answer.ok()) return NotCalled(std::string(answer.status().message()));
  const Status verified =
      VerifyReview(call.review, webhook.type == WebhookType::kMutating, *answer);
  if (!verified.ok()) {
    return CallResult::Failed(
        "received invalid webhook response: " + std::string(verified.message()),
        meta::NewServiceUnavailable("error validating webhook response"));
  }
  // Annotations and warnings are kept for refusals as well.
  for (const auto& [key, value] : answer->audit_annotations) {
    const Status added = attributes.annotations->Add(webhook.name + "/" + key, value);
    if (added.ok()) continue;
    Log(log_, LogLevel::kWarning, "an audit annotation of a webhook was dropped",
        {{"webhook", webhook.name}, {"why", std::string(added.message())}});
  }
  for (const std::string& warning : answer->warnings) rest::AddWarning(ctx, warning);
  CallResult result{.answer = *std::move(answer)};
  if (!result.answer.allowed) {
    result.kind = CallResult::Kind::kRefused;
    result.status = RefusalOf(webhook.name, result.answer);
  }
  return result;
}

}  // namespace apiserver::v0::admission
