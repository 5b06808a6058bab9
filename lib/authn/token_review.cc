#include "apiserver/authn/token_review.h"

#include <array>
#include <atomic>
#include <optional>
#include <string_view>
#include <utility>

#include "apiserver/auth/audiences.h"
#include "apiserver/meta/errors.h"
#include "auth/cached_look_ups.h"
#include "authn/token_hash.h"
#include "authn/token_review_messages.h"
#include "authn/token_review_metrics.h"

namespace apiserver::v0::authn {
namespace {

using auth::AuthenticateResponse;
using Found = Result<std::optional<AuthenticateResponse>>;

// The result of one review; an error is a result too.
struct Reviewed {
  Found found;
  std::chrono::nanoseconds took;
};

struct Spec {
  std::string token;
  std::optional<std::vector<std::string>> audiences;  // nullopt: the request asks for none.
};

// Limits the result to the audiences that the request asks for.
// Follows webhook.WebhookTokenAuthenticator.AuthenticateToken, where a server without audiences in
// its answer is taken for one that does not know them.
Found ForAudiences(Found found, const Spec& spec, const std::vector<std::string>& implicit) {
  if (!found.ok() || !found->has_value()) return found;
  std::vector<std::string>& audiences = found->value().audiences;
  if (!spec.audiences) {
    audiences.clear();
    return found;
  }
  audiences = auth::Intersect(audiences.empty() ? implicit : audiences, *spec.audiences);
  if (audiences.empty()) return std::optional<AuthenticateResponse>();
  return found;
}

// Makes the reviews; outlives the authenticator while some are in flight.
class Reviewer final : public std::enable_shared_from_this<Reviewer> {
 public:
  explicit Reviewer(const TokenReviewOptions& options)
      : options_(options), metrics_(options.metrics), webhook_(WebhookFor(options, metrics_)) {}

  const TokenReviewMetrics& metrics() const { return metrics_; }

  // Starts a review without waiting. `done` is called once.
  void Start(Spec spec, UniqueFunction<void(Result<Reviewed>)> done) {
    const Clock::Monotonic start = options_.clock->Now();
    // Refused rather than queued: each unknown token costs a call, and any client may send some.
    if (in_flight_.fetch_add(1) >= options_.in_flight_max) {
      in_flight_.fetch_sub(1);
      done(Reviewed{meta::NewTooManyRequests("too many tokens are being reviewed, please try again",
                                             /*retry_after_seconds=*/1),
                    std::chrono::nanoseconds(0)});
      return;
    }
    metrics_.FetchBegins();
    std::string body =
        TokenReviewBody(options_.version, spec.token, spec.audiences ? &*spec.audiences : nullptr);
    // Not a child of the request: others may wait for the same review.
    webhook_.Post(Context::Child(Context::Background(), start + options_.timeout), std::move(body),
                  [self = shared_from_this(), start, spec = std::move(spec),
                   done = std::move(done)](Result<http::ClientResponse> answer) mutable {
                    done(self->Finish(std::move(answer), spec, start));
                  });
  }

 private:
  static client::Webhook WebhookFor(const TokenReviewOptions& options,
                                    const TokenReviewMetrics& metrics) {
    client::WebhookOptions webhook{.client = options.client,
                                   .url = options.url,
                                   .timeout = options.timeout,
                                   .backoff = options.backoff,
                                   .executor = options.executor,
                                   .random = options.random,
                                   .clock = options.clock};
    // Pauses need an executor.
    if (options.executor == nullptr) webhook.backoff.steps = 1;
    webhook.observe = [metrics](const client::WebhookAttempt& attempt) {
      metrics.Called(attempt.code == 0 ? "<error>" : std::to_string(attempt.code), attempt.latency);
    };
    return client::Webhook(std::move(webhook));
  }

  Reviewed Finish(Result<http::ClientResponse> answer, const Spec& spec, Clock::Monotonic start) {
    in_flight_.fetch_sub(1);
    const std::chrono::nanoseconds took = options_.clock->Now() - start;
    Found found = Read(std::move(answer));
    metrics_.FetchEnds(found.ok());
    if (found.status().reason() == Reason::kInternalError) {
      Log(*options_.log, LogLevel::kError, "Failed to make webhook authenticator request",
          {{"url", options_.url}, {"err", std::string(found.status().message())}});
    }
    return {ForAudiences(std::move(found), spec, options_.implicit_audiences), took};
  }

  static Found Read(Result<http::ClientResponse> answer) {
    if (answer.ok()) return ReadTokenReview(answer->body);
    return Status(Reason::kInternalError,
                  "the token review failed: " + std::string(answer.status().message()));
  }

  const TokenReviewOptions options_;
  const TokenReviewMetrics metrics_;
  const client::Webhook webhook_;
  std::atomic<std::size_t> in_flight_{0};
};

class TokenReviewAuthenticator final : public auth::TokenAuthenticator {
 public:
  explicit TokenReviewAuthenticator(const TokenReviewOptions& options)
      : clock_(*options.clock),
        hasher_(*options.random),
        reviewer_(std::make_shared<Reviewer>(options)),
        reviews_({.entries_max = options.cache_entries_max,
                  .clock = options.clock,
                  .lifetime = [success = options.success_ttl, failure = options.failure_ttl](
                                  const Result<Reviewed>& reviewed) -> std::chrono::nanoseconds {
                    // A failed review says nothing about the token, and the next request may try
                    // again.
                    if (!reviewed.ok() || !reviewed->found.ok()) return {};
                    return reviewed->found->has_value() ? success : failure;
                  }}) {}

  // Requests with an equal token and audiences join the review in flight, or use its kept result.
  Found AuthenticateToken(const Context& ctx, std::string_view token) const override {
    const Clock::Monotonic start = clock_.Now();
    const std::vector<std::string>* const audiences = auth::AudiencesOf(ctx);
    bool hit = false;
    Result<Reviewed> reviewed = reviews_.Get(
        ctx, hasher_.Hash(token, audiences),
        [this, token, audiences](UniqueFunction<void(Result<Reviewed>)> done) {
          Spec spec{.token = std::string(token)};
          if (audiences) spec.audiences = *audiences;
          reviewer_->Start(std::move(spec), std::move(done));
        },
        &hit);
    if (!reviewed.ok()) return reviewed.status();
    reviewer_->metrics().Requested(hit, hit ? clock_.Now() - start : reviewed->took);
    return std::move(reviewed->found);
  }

 private:
  const Clock& clock_;
  const TokenHasher hasher_;
  const std::shared_ptr<Reviewer> reviewer_;
  mutable auth::CachedLookUps<Reviewed> reviews_;
};

}  // namespace

Result<std::unique_ptr<auth::TokenAuthenticator>> NewTokenReview(
    const TokenReviewOptions& options) {
  if (options.client == nullptr) {
    return Status(Reason::kInvalid,
                  "token reviews need an HTTP client: set TokenReviewOptions::client");
  }
  if (options.url.empty()) {
    return Status(Reason::kInvalid, "token reviews need a server: set TokenReviewOptions::url");
  }
  if (options.version != "v1" && options.version != "v1beta1") {
    return Status(Reason::kInvalid, "unsupported authentication webhook version \"" +
                                        options.version +
                                        "\", supported versions are \"v1\", \"v1beta1\"");
  }
  return std::make_unique<TokenReviewAuthenticator>(options);
}

}  // namespace apiserver::v0::authn
