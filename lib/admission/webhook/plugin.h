#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>

#include "admission/policy/request_values.h"
#include "admission/webhook/call.h"
#include "admission/webhook/matcher.h"
#include "apiserver/admission/webhook.h"

namespace apiserver::inline v0::admission {

// The parts that both kinds of webhook plugins share.
class WebhookDispatcher {
 public:
  explicit WebhookDispatcher(WebhookAdmissionOptions options);

  const WebhookAdmissionOptions& options() const { return options_; }
  const WebhookMatcher& matcher() const { return matcher_; }
  WebhookCaller& caller() const { return caller_; }
  // Returns the values of a request for match conditions; they borrow from this and `attributes`.
  policy::RequestValues ValuesOf(const Attributes& attributes) const {
    return {matcher_.namespaces(), options_.authorizer.get(), attributes};
  }

  // True if there are no webhooks at all, as far as is known.
  bool Idle() const;
  // Returns the webhooks that may be called for this request at all; never null.
  Result<std::shared_ptr<const Webhooks>> WebhooksFor(const Attributes& attributes) const;

  // The position of a call among the others, for annotations.
  struct Place {
    int round = 0;
    int index = 0;
  };
  // Counts the call and returns how the request goes on; OK: it is admitted so far.
  Status Conclude(const Context& ctx, const Attributes& attributes, const Webhook& webhook,
                  const CallResult& result, Place place) const;

 private:
  bool Excluded(const Attributes& attributes) const;
  Status FailOpen(const Context& ctx, const Attributes& attributes, const Webhook& webhook,
                  const CallResult& result, Place place) const;

  const WebhookAdmissionOptions options_;
  const WebhookMatcher matcher_;
  mutable WebhookCaller caller_;
};

// Returns "mutation.webhook.admission.k8s.io/round_0_index_2".
std::string WebhookAnnotationKey(std::string_view prefix, WebhookDispatcher::Place place);

}  // namespace apiserver::inline v0::admission
