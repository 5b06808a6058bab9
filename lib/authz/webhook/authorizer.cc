#include <optional>
#include <string>
#include <utility>

#include "apiserver/authz/webhook.h"
#include "apiserver/base/trace.h"
#include "auth/cached_look_ups.h"
#include "authz/webhook/conditions.h"
#include "authz/webhook/metrics.h"
#include "authz/webhook/rate_limit.h"
#include "authz/webhook/review.h"
#include "authz/webhook/stale_answers.h"

namespace apiserver::v0::authz {
namespace {

// In bytes; as maxControlledAttrCacheSize of the Go plugin webhook.
constexpr std::size_t kControlledBytesMax = 10'000;

// Long attributes, which the client chooses, may be an attempt to fill the cache.
bool ShouldCache(const auth::Attributes& asked) {
  return asked.namespace_.size() + asked.verb.size() + asked.group.size() + asked.version.size() +
             asked.resource.size() + asked.subresource.size() + asked.name.size() +
             asked.path.size() + asked.field_selector.size() + asked.label_selector.size() <
         kControlledBytesMax;
}

// `cacheable` depends on the request, not on the answer, and is kept beside it for `lifetime`.
struct Reviewed {
  ReviewStatus status;
  bool cacheable = false;
};
using Reviews = auth::CachedLookUps<Reviewed>;

// The state that reviews in flight need; lives until they and the authorizer are gone.
struct Reviewer {
  explicit Reviewer(const WebhookAuthorizerOptions& from)
      : options(from),
        metrics(from.metrics, from.name),
        stale(from.cache_entries_max, *from.webhook.clock),
        limit(from.qps, from.burst, *from.webhook.clock) {
    client::WebhookOptions webhook_options = options.webhook;
    webhook_options.observe = [this](const client::WebhookAttempt& attempt) {
      metrics.Attempted(attempt);
      if (options.webhook.observe) options.webhook.observe(attempt);
    };
    webhook_options.check = [version = options.version](const http::ClientResponse& answer) {
      return ReadReview(answer.body, version).status();
    };
    webhook.emplace(std::move(webhook_options));
  }

  std::chrono::nanoseconds TtlOf(const ReviewStatus& status) const {
    return status.allowed ? options.authorized_ttl : options.unauthorized_ttl;
  }

  const WebhookAuthorizerOptions options;
  const WebhookMetrics metrics;
  StaleAnswers stale;
  RateLimit limit;
  std::optional<client::Webhook> webhook;
};

// The context is no child of the request's, since requests that come later share the review.
void Review(const std::shared_ptr<Reviewer>& reviewer, const std::string& spec, bool cacheable,
            trace::Span span, Reviews::Done done) {
  const auto& options = reviewer->options;
  Context ctx =
      Context::Child(Context::Background(), options.webhook.clock->Now() + options.timeout);
  if (span.recording()) ctx.Set(std::move(span));
  auto take = [reviewer, spec, cacheable, ctx,
               done = std::move(done)](Result<http::ClientResponse> answer) mutable {
    if (auto* const call = ctx.Mutable<trace::Span>()) call->EndWith(answer.status());
    if (!answer.ok()) return done(answer.status());
    const auto status = ReadReview(answer->body, reviewer->options.version);
    if (!status.ok()) return done(status.status());
    // Kept beyond its time to live, for the time in which the webhook fails; see StaleAnswers.
    if (cacheable && reviewer->options.stale_for.count() > 0) {
      reviewer->stale.Put(spec, *status, reviewer->TtlOf(*status) + reviewer->options.stale_for);
    }
    done(Reviewed{*status, cacheable});
  };
  reviewer->webhook->Post(ctx, ReviewOf(spec, options.version), std::move(take));
}

class WebhookAuthorizer final : public auth::Authorizer {
 public:
  // `conditions` may be null.
  WebhookAuthorizer(const WebhookAuthorizerOptions& options,
                    std::shared_ptr<const AccessConditions> conditions)
      : conditions_(std::move(conditions)),
        condition_metrics_(conditions_ ? options.metrics : nullptr, options.name),
        reviewer_(std::make_shared<Reviewer>(options)),
        reviews_({.entries_max = options.cache_entries_max,
                  .clock = options.webhook.clock,
                  .lifetime = [reviewer = reviewer_](const Reviews::Answer& answer) {
                    const bool keep = answer.ok() && answer->cacheable;
                    return keep ? reviewer->TtlOf(answer->status) : std::chrono::nanoseconds(0);
                  }}) {}

  Result<auth::Verdict> Authorize(const Context& ctx,
                                  const auth::Attributes& asked) const override {
    const auto& options = reviewer_->options;
    const std::string spec = ReviewSpec(asked, options.version);
    if (conditions_) {
      const ConditionOutcome outcome = Evaluate(ctx, asked, spec);
      if (!outcome.error.empty()) return OnConditionError(outcome.error);
      if (!outcome.matches) return auth::Verdict{};
    }
    const bool cacheable = ShouldCache(asked);
    const auto answer = reviews_.Get(ctx, spec, [&](Reviews::Done done) {
      // The span belongs to the first request; others share its review.
      trace::Span span = trace::StartSpan(ctx, "Call authorization webhook");
      Ask(reviewer_, spec, cacheable, std::move(span), std::move(done));
    });
    // Order: an answer, then an old answer, then the failure policy.
    if (answer.ok()) return VerdictOf(answer->status);
    if (answer.status().reason() == Reason::kWouldBlock) return answer.status();
    if (const auto earlier = reviewer_->stale.Find(spec)) return VerdictOf(*earlier);
    return OnError(ctx, spec, answer.status());
  }

 private:
  // Starts the review when the rate limit has room.
  static void Ask(const std::shared_ptr<Reviewer>& reviewer, const std::string& spec,
                  bool cacheable, trace::Span span, Reviews::Done done) {
    const auto wait = reviewer->limit.Take(reviewer->options.timeout);
    if (!wait) {
      return done(Status(Reason::kTooManyRequests,
                         "the authorization webhook is asked too often: its client's limit of " +
                             std::to_string(static_cast<int>(reviewer->options.qps)) +
                             " questions a second"));
    }
    if (wait->count() == 0)
      return Review(reviewer, spec, cacheable, std::move(span), std::move(done));
    // Calls `done` even if the executor stops first.
    struct Turn {
      trace::Span span;
      Reviews::Done done;
      ~Turn() {
        if (done) done(Status(Reason::kServiceUnavailable, "shutting down"));
      }
    };
    auto turn = std::make_shared<Turn>();
    turn->span = std::move(span);
    turn->done = std::move(done);
    (void)reviewer->options.webhook.executor->PostAfter(*wait, [reviewer, spec, cacheable, turn] {
      Review(reviewer, spec, cacheable, std::move(turn->span), std::exchange(turn->done, nullptr));
    });
  }

  // An answer that allows and denies denies: the safe side, as in Go's WebhookAuthorizer.Authorize.
  static auth::Verdict VerdictOf(const ReviewStatus& status) {
    if (status.denied && status.allowed) {
      return {auth::Decision::kDeny,
              "webhook subject access review returned both allow and deny response"};
    }
    if (status.denied) return {auth::Decision::kDeny, status.reason};
    return {status.allowed ? auth::Decision::kAllow : auth::Decision::kNoOpinion, status.reason};
  }

  // Counts the conditions once for each request, though they are evaluated again when an answer
  // that was waited for has come.
  ConditionOutcome Evaluate(const Context& ctx, const auth::Attributes& asked,
                            const std::string& spec) const {
    const Clock& clock = *reviewer_->options.webhook.clock;
    const Clock::Monotonic began = clock.Now();
    ConditionOutcome outcome = conditions_->Evaluate(ctx, asked);
    const auth::WaitingPtr* const waiting = ctx.Get<auth::WaitingPtr>();
    const bool first = !waiting || !*waiting || (*waiting)->FirstReport(conditions_.get(), spec);
    if (first) condition_metrics_.Observe(outcome, clock.Now() - began);
    return outcome;
  }

  Result<auth::Verdict> OnConditionError(const std::string& error) const {
    if (reviewer_->options.decision_on_error == auth::Decision::kDeny) {
      return auth::Verdict{auth::Decision::kDeny, error};
    }
    return Status(Reason::kInternalError, error);
  }

  // Logs an error once a request, and turns it into the verdict that the failure policy wants.
  Result<auth::Verdict> OnError(const Context& ctx, const std::string& spec,
                                const Status& error) const {
    const auto& options = reviewer_->options;
    // The authorizer may run again because another webhook had to be waited for.
    const auth::WaitingPtr* const waiting = ctx.Get<auth::WaitingPtr>();
    const bool first = !waiting || !*waiting || (*waiting)->FirstReport(reviewer_.get(), spec);
    if (first) {
      Log(*options.log, LogLevel::kError, "Failed to make webhook authorizer request",
          {{"error", error.ToString()}});
    }
    if (options.decision_on_error == auth::Decision::kDeny) {
      return auth::Verdict{auth::Decision::kDeny, "the authorization webhook could not be asked"};
    }
    if (first && !ctx.done()) reviewer_->metrics.FailedOpen(error);
    // The webhook's error is not one of the client's, whatever its code was.
    return Status(Reason::kInternalError, std::string(error.message()));
  }

  const std::shared_ptr<const AccessConditions> conditions_;
  const ConditionMetrics condition_metrics_;
  const std::shared_ptr<Reviewer> reviewer_;
  mutable Reviews reviews_;
};

class WebhookRules final : public auth::RuleResolver {
 public:
  auth::Rules RulesFor(const Context& /*ctx*/, const auth::UserInfoPtr& /*user*/,
                       std::string_view /*namespace_*/) const override {
    return {.incomplete = true,
            .error = "webhook authorizer does not support user rule resolution"};
  }
};

}  // namespace

Result<std::unique_ptr<auth::Authorizer>> NewWebhookAuthorizer(
    const WebhookAuthorizerOptions& options) {
  if (options.version != "v1" && options.version != "v1beta1") {
    return Status(Reason::kInvalid, "unsupported webhook authorizer version \"" + options.version +
                                        "\", supported versions are \"v1\", \"v1beta1\"");
  }
  if (!options.webhook.client || options.webhook.url.empty() || !options.webhook.executor) {
    return Status(Reason::kInvalid, "a webhook authorizer needs a client, a URL and an executor");
  }
  field::ErrorList errors;
  auto conditions =
      CompileAccessConditions(options.match_conditions, field::Path("matchConditions"), errors);
  if (!errors.empty()) return Status(Reason::kInvalid, errors.Aggregate());
  return std::make_unique<WebhookAuthorizer>(options, std::move(conditions));
}

std::unique_ptr<auth::RuleResolver> NewWebhookRules() { return std::make_unique<WebhookRules>(); }

}  // namespace apiserver::v0::authz
