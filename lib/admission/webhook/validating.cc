#include <atomic>
#include <memory>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "admission/versions.h"
#include "admission/webhook/conditions.h"
#include "admission/webhook/plugin.h"
#include "apiserver/base/sync.h"
#include "apiserver/meta/errors.h"
#include "apiserver/request/latency.h"
#include "base/status_macros.h"

namespace apiserver::v0::admission {

namespace {

// The calls that run at once. A slot is written by its client's thread; the waiting thread reads it
// only after the last call is done.
struct CallsUnderWay {
  struct Slot {
    Invocation invocation = {};
    std::variant<WebhookCall, CallResult> call = {};
    Result<http::ClientResponse> response = Status(Reason::kServiceUnavailable, "no answer");
    std::chrono::nanoseconds took{0};
  };
  std::vector<Slot> slots;
  std::atomic<std::size_t> missing{1};  // One for the thread that starts them.
  Notification done;

  // The last one to come notifies, be it the starting thread or a client's.
  void Done() {
    if (missing.fetch_sub(1) == 1) done.Notify();
  }
};

class ValidatingWebhookAdmission final : public Plugin {
 public:
  explicit ValidatingWebhookAdmission(WebhookAdmissionOptions options)
      : dispatcher_(std::move(options)) {}

  std::string_view name() const override { return "ValidatingAdmissionWebhook"; }
  bool Handles(Operation) const override { return true; }
  bool RunsInline(Operation, std::string_view) const override { return dispatcher_.Idle(); }
  bool mutates() const override { return false; }

  // Blocks until all webhooks have answered or timed out, so it runs on the pool.
  Status Validate(const Context& ctx, const Attributes& attributes) const override {
    ASSIGN_OR_RETURN(const auto webhooks, dispatcher_.WebhooksFor(attributes));
    auto calls = std::make_shared<CallsUnderWay>();
    ReadVersions versions(attributes);
    RETURN_IF_ERROR(Prepare(ctx, attributes, *webhooks, versions, calls->slots));
    if (calls->slots.empty()) return {};
    if (!ctx.may_block()) return {Reason::kWouldBlock, "webhooks must be asked"};
    // A webhook that gets no time would only be counted as failed.
    if (!ctx.Err(*dispatcher_.options().clock).ok()) {
      return meta::NewTimeoutError("request did not complete within requested timeout", 0);
    }
    Start(ctx, attributes, calls);
    // `calls` is shared: the last callback may still be in Notify() when this thread goes on.
    calls->done.Wait();
    return Judge(ctx, attributes, *calls);
  }

 private:
  // Prepares all calls; all objects are converted before the first call starts.
  Status Prepare(const Context& ctx, const Attributes& attributes, const Webhooks& webhooks,
                 ReadVersions& versions, std::vector<CallsUnderWay::Slot>& slots) const {
    policy::RequestValues values = dispatcher_.ValuesOf(attributes);
    for (const Webhook& webhook : webhooks) {
      ASSIGN_OR_RETURN(const auto invocation,
                       dispatcher_.matcher().Match(ctx, webhook, attributes, attributes.object));
      if (!invocation) continue;
      ASSIGN_OR_RETURN(const ReviewObjects objects, versions.In(ctx, invocation->kind));
      ASSIGN_OR_RETURN(const bool meets,
                       MeetsConditions(ctx, attributes, *invocation, objects, values));
      if (!meets) continue;
      slots.push_back(
          {.invocation = *invocation,
           .call = dispatcher_.caller().Prepare(ctx, attributes, *invocation, objects)});
    }
    return {};
  }

  void Start(const Context& ctx, const Attributes& attributes,
             const std::shared_ptr<CallsUnderWay>& calls) const {
    const Clock& clock = *dispatcher_.options().clock;
    const Clock::Monotonic began = clock.Now();
    // All start before any is waited for: the slowest decides how long the request waits.
    for (CallsUnderWay::Slot& slot : calls->slots) {
      auto* call = std::get_if<WebhookCall>(&slot.call);
      if (call == nullptr) continue;
      calls->missing.fetch_add(1);
      const auto span = std::make_shared<trace::ScopedSpan>(ctx, "Call validating webhook");
      DescribeCall(attributes, slot.invocation, *call, span->span());
      call->client->Start(
          span->ctx(), call->request,
          [calls, &slot, &clock, began, span](Result<http::ClientResponse> response) {
            span->span().EndWith(response.status());
            slot.response = std::move(response);
            slot.took = clock.Now() - began;
            calls->Done();
          });
    }
    calls->Done();
  }

  // Returns the first refusal in the order of the webhooks; all results are counted.
  // Waits for no answer: results are looked at in the order of the webhooks, so that the error does
  // not depend on which one came first.
  Status Judge(const Context& ctx, const Attributes& attributes, CallsUnderWay& calls) const {
    Status first;
    int index = 0;
    for (CallsUnderWay::Slot& slot : calls.slots) {
      const Webhook& webhook = *slot.invocation.webhook;
      CallResult result;
      if (auto* call = std::get_if<WebhookCall>(&slot.call)) {
        request::TrackLatency(ctx, request::Layer::kValidatingWebhook, slot.took);
        result = dispatcher_.caller().Judge(ctx, attributes, webhook, *call, slot.response);
      } else {
        result = std::get<CallResult>(std::move(slot.call));
      }
      result.took = slot.took;
      const Status status =
          dispatcher_.Conclude(ctx, attributes, webhook, result, {.index = index++});
      if (first.ok()) first = status;
    }
    return first;
  }

  const WebhookDispatcher dispatcher_;
};

}  // namespace

std::shared_ptr<const Plugin> NewValidatingWebhookAdmission(WebhookAdmissionOptions options) {
  return std::make_shared<ValidatingWebhookAdmission>(std::move(options));
}

}  // namespace apiserver::v0::admission
