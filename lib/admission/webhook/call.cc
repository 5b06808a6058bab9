#include "admission/webhook/call.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>
#include <utility>

#include "apiserver/codec/json.h"
#include "apiserver/meta/errors.h"
#include "apiserver/meta/status.h"
#include "apiserver/rest/warnings.h"

namespace apiserver::v0::admission {

namespace {

using std::chrono::milliseconds;

// The limit of an error response's body in the message, in bytes.
constexpr std::size_t kErrorTextMax = 2048;

CallResult NotCalled(const std::string& why) {
  return CallResult::Failed("failed to call webhook: " + why,
                            meta::NewServiceUnavailable("error calling webhook"));
}

CallResult NotCalled(const Status& status) {
  CallResult result = NotCalled(std::string(status.message()));
  result.status = status;
  return result;
}

// Returns the error of a response other than 2xx, as client-go does: a Status, or one made from
// code and text.
Status ErrorOfAnswer(const http::ClientResponse& response) {
  runtime::Arena arena;
  if (const auto parsed = codec::ParseJson(response.body, arena); parsed.ok()) {
    if (std::optional<Status> status = meta::StatusFromValue(*parsed)) return *status;
  }
  std::string_view text(response.body);
  text = text.substr(0, kErrorTextMax);
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.remove_suffix(1);
  const bool is_text = response.headers.Get("Content-Type").starts_with("text/");
  int retry_after = 0;
  const std::string_view header = response.headers.Get("Retry-After");
  std::from_chars(header.data(), header.data() + header.size(), retry_after);
  return meta::NewGenericServerResponse(meta::ServerResponse{.code = response.code,
                                                             .verb = "POST",
                                                             .message = is_text ? text : "unknown",
                                                             .retry_after_seconds = retry_after,
                                                             .unexpected = true});
}

// Returns the error in Go's words: `Post "https://…": why`.
std::string TransportError(const std::string& url, const Status& error) {
  const std::string head = "Post \"" + url + "\": ";
  if (error.reason() == Reason::kTimeout) return head + "context deadline exceeded";
  const std::string why(error.message());
  return why.starts_with(head) ? why : head + why;
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
  const auto address = clients_.For(webhook);
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
    CallResult failed = NotCalled(TransportError(call.request.url, response.status()));
    const Status ended = ctx.Err(clock_);
    // Only the client's going away is no fault of the webhook; its own timeout is.
    failed.cancelled = !ended.ok() && ended.reason() != Reason::kTimeout;
    return failed;
  }
  // Go's rest.Result accepts 200 to 206.
  if (response->code < 200 || response->code > 206) return NotCalled(ErrorOfAnswer(*response));
  // The request asked for no coding, and the size of the unpacked text is not known.
  if (const auto coding = response->headers.Get("Content-Encoding");
      !coding.empty() && coding != "identity") {
    return NotCalled("the answer has Content-Encoding " + std::string(coding));
  }
  if (response->body.empty()) {
    return NotCalled("0-length response with status code: " + std::to_string(response->code) +
                     " and content type: " + std::string(response->headers.Get("Content-Type")));
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
