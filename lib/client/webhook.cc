#include "apiserver/client/webhook.h"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cmath>
#include <utility>

#include "apiserver/base/sync.h"
#include "client/answer.h"

namespace apiserver::v0::client {
namespace {

// Returns a number in [0, 1), uniformly.
double Fraction(Random& random) {
  return std::ldexp(static_cast<double>(random.Next() >> 11), -53);
}

int RetryAfterSeconds(const Status& error) {
  return error.details() != nullptr ? error.details()->retry_after_seconds : 0;
}

}  // namespace

// Follows wait.Jitter: up to `jitter` times the pause is added.
std::chrono::nanoseconds PauseAfter(const Backoff& backoff, int attempt, Random& random) {
  double pause = static_cast<double>(backoff.duration.count()) * std::pow(backoff.factor, attempt);
  if (backoff.jitter > 0) pause += pause * backoff.jitter * Fraction(random);
  return std::chrono::nanoseconds(static_cast<std::int64_t>(pause));
}

// Follows DefaultShouldRetry in util/webhook.
bool DefaultShouldRetry(const Status& error) {
  if (error.ok()) return false;
  if (IsConnectionReset(error) || RetryAfterSeconds(error) > 0) return true;
  switch (error.reason()) {
    case Reason::kInternalError:
    case Reason::kTooManyRequests:
    case Reason::kServerTimeout:
      return true;
    case Reason::kTimeout:
      // A 504 of the webhook has details, our own timeout has none.
      return error.details() != nullptr;
    default:
      return false;
  }
}

// The attempts of one call. Used by one thread at a time: the one that has the attempt or the
// pause.
class Webhook::Attempts final : public std::enable_shared_from_this<Attempts> {
 public:
  Attempts(std::shared_ptr<const WebhookOptions> options, const Context& ctx, std::string json,
           Done done)
      : options_(std::move(options)), ctx_(ctx), json_(std::move(json)), done_(std::move(done)) {}
  // Destroyed unfinished if the executor has dropped it in the middle of a pause.
  ~Attempts() {
    if (done_) done_(Status(Reason::kServiceUnavailable, "webhook call failed: shutting down"));
  }

  void Begin() {
    const Status ended = ctx_.Err(*options_->clock);
    if (!ended.ok()) return End(Failed(ended.message()));
    if (options_->backoff.steps <= 0) return End(Failed("timed out waiting for the condition"));
    Try();
  }

 private:
  // A pause is over once it is closed, by the timer or by the context's end; the other then does
  // nothing.
  struct Pause {
    std::atomic<bool> open{true};
    Guarded<Context::Registration> registration;

    void Unregister() {
      Context::Registration dropped;  // After the lock is given up.
      std::swap(*registration.Lock(), dropped);
    }
  };

  static Status Failed(std::string_view why) {
    return Status(Reason::kTimeout, "webhook call failed: " + std::string(why));
  }

  void Try() {
    HttpRequest request{.method = "POST",
                        .url = options_->url,
                        .headers = options_->headers,
                        .body = json_,
                        .timeout = options_->timeout};
    request.headers.Set("Content-Type", "application/json");
    request.headers.Set("Accept", "application/json");
    const auto began = options_->clock->Now();
    options_->client->Start(ctx_, std::move(request),
                            [self = shared_from_this(), began](Result<http::ClientResponse> got) {
                              self->Got(std::move(got), began);
                            });
  }

  void Got(Result<http::ClientResponse> got, Clock::Monotonic began) {
    WebhookAttempt attempt{.latency = options_->clock->Now() - began};
    if (got.ok()) attempt.code = got->code;
    bool useless = false;
    if (!got.ok()) {
      attempt.error = got.status();
    } else if (got->code < 200 || got->code > 299) {
      attempt.error = ErrorOf("POST", {}, *got);
    } else if (options_->check) {
      attempt.error = options_->check(*got);
      useless = !attempt.error.ok();
    }
    if (options_->observe) options_->observe(attempt);
    if (attempt.error.ok()) return End(std::move(got));
    const bool again = !useless && options_->should_retry(attempt.error) &&
                       ++tried_ < options_->backoff.steps && ctx_.Err(*options_->clock).ok();
    if (!again) return End(std::move(attempt.error));
    Rest(std::move(attempt.error));
  }

  void Rest(Status error) {
    std::chrono::nanoseconds pause = PauseAfter(options_->backoff, tried_ - 1, *options_->random);
    const std::chrono::seconds wanted(RetryAfterSeconds(error));
    pause = std::max<std::chrono::nanoseconds>(pause, std::min(wanted, options_->retry_after_max));
    // A pause that the deadline would cut short is not started.
    const auto deadline = ctx_.deadline();
    if (deadline && options_->clock->Now() + pause >= *deadline) return End(std::move(error));
    const auto held = std::make_shared<Pause>();
    (void)options_->executor->PostAfter(pause, [self = shared_from_this(), held] {
      if (!held->open.exchange(false)) return;
      held->Unregister();
      self->Try();
    });
    auto registration = ctx_.OnDone([weak = weak_from_this(), held, error] {
      if (!held->open.exchange(false)) return;
      if (const auto self = weak.lock()) self->EndLater(error);
    });
    std::swap(*held->registration.Lock(), registration);
    // The pause may have ended before its registration was put away.
    if (!held->open) held->Unregister();
  }

  // Calls `done` on the executor and not on the thread that cancels.
  void EndLater(Status error) {
    options_->executor->Post(
        [self = shared_from_this(), error = std::move(error)] { self->End(error); });
  }

  void End(Result<http::ClientResponse> result) {
    std::exchange(done_, nullptr)(std::move(result));
  }

  const std::shared_ptr<const WebhookOptions> options_;
  const Context ctx_;
  const std::string json_;
  Done done_;
  int tried_ = 0;
};

Webhook::Webhook(WebhookOptions options)
    : options_(std::make_shared<const WebhookOptions>(std::move(options))) {}

void Webhook::Post(const Context& ctx, std::string json, Done done) const {
  std::make_shared<Attempts>(options_, ctx, std::move(json), std::move(done))->Begin();
}

}  // namespace apiserver::v0::client
