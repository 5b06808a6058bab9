#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>

#include "admission/webhook/clients.h"
#include "admission/webhook/review.h"
#include "apiserver/admission/webhook.h"
#include "apiserver/base/clock.h"
#include "apiserver/base/trace.h"

namespace apiserver::inline v0::admission {

// The outcome of one webhook call.
struct CallResult {
  enum class Kind : std::uint8_t {
    kAllowed,
    kRefused,   // `status` has the reason.
    kFailed,    // There is no proper answer: failurePolicy decides.
    kInternal,  // `status` ends the request whatever failurePolicy is.
  };
  Kind kind = Kind::kAllowed;
  Status status = {};      // For kFailed: its code is used in metrics.
  std::string why = {};    // For kFailed: the reason.
  bool cancelled = false;  // For kFailed: the client went away, which is not the webhook's fault.
  ReviewAnswer answer = {};
  std::chrono::nanoseconds took{0};

  static CallResult Failed(std::string why, Status status) {
    return {.kind = Kind::kFailed, .status = std::move(status), .why = std::move(why)};
  }
  static CallResult Internal(Status status) {
    return {.kind = Kind::kInternal, .status = std::move(status)};
  }
};

// A call that is ready to be made.
struct WebhookCall {
  ReviewRequest review = {};
  std::shared_ptr<client::HttpClient> client = nullptr;
  client::HttpRequest request = {};
};

// Describes the call in its span.
void DescribeCall(const Attributes& attributes, const Invocation& invocation,
                  const WebhookCall& call, trace::Span& span);

// Makes calls from invocations and results from answers, without waiting. Any thread.
class WebhookCaller {
 public:
  explicit WebhookCaller(const WebhookAdmissionOptions& options)
      : clients_(options), clock_(*options.clock), random_(*options.random), log_(*options.log) {}

  // Returns the call, or the reason why it cannot be made.
  std::variant<WebhookCall, CallResult> Prepare(const Context& ctx, const Attributes& attributes,
                                                const Invocation& invocation,
                                                const ReviewObjects& objects);
  // Returns the result of an answer; copies its annotations and warnings to the request.
  CallResult Judge(const Context& ctx, const Attributes& attributes, const Webhook& webhook,
                   const WebhookCall& call, const Result<http::ClientResponse>& response) const;

 private:
  // Returns the timeout. nullopt: no time is left.
  std::optional<std::chrono::milliseconds> TimeFor(const Context& ctx,
                                                   const Webhook& webhook) const;

  WebhookClients clients_;
  const Clock& clock_;
  Random& random_;
  LogSink& log_;
};

}  // namespace apiserver::inline v0::admission
