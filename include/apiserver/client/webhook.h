#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "apiserver/base/clock.h"
#include "apiserver/base/context.h"
#include "apiserver/base/executor.h"
#include "apiserver/base/random.h"
#include "apiserver/base/status.h"
#include "apiserver/client/http_client.h"

// One JSON document to a webhook, one back, tried again where that may help:
// k8s.io/apiserver/pkg/util/webhook.
namespace apiserver::inline v0::client {

// Between attempts: `duration`, then longer by `factor` each time, each plus up to `jitter` of
// itself. As k8s.io/apimachinery/pkg/util/wait.Backoff.
struct Backoff {
  std::chrono::nanoseconds duration = std::chrono::milliseconds(500);
  double factor = 1.5;
  double jitter = 0.2;
  int steps = 5;  // Attempts, the first included; zero: none, and every call fails.
};

// The pause after the attempt of this number, from 0. `random` is used if there is a jitter.
std::chrono::nanoseconds PauseAfter(const Backoff& backoff, int attempt, Random& random);

// Whether `error` may be gone at the next attempt: a connection that was reset, an internal error,
// 504, 429, or whatever says when to try again.
bool DefaultShouldRetry(const Status& error);

// One attempt, for metrics.
struct WebhookAttempt {
  int code = 0;  // Of the answer; zero: there was none.
  Status error;  // OK: this was the answer.
  std::chrono::nanoseconds latency{0};
};

struct WebhookOptions {
  std::shared_ptr<HttpClient> client = {};                       // Required.
  std::string url = {};                                          // Required.
  http::Headers headers = {};                                    // Beside Content-Type and Accept.
  std::chrono::milliseconds timeout = std::chrono::seconds(30);  // Of one attempt.
  Backoff backoff = {};
  std::function<bool(const Status& error)> should_retry = DefaultShouldRetry;
  // What is wrong with an answer of 2xx, if anything is: then the call fails with it, and is not
  // tried again. Any thread, must not wait.
  std::function<Status(const http::ClientResponse& answer)> check = {};
  // An answer's Retry-After counts up to here.
  std::chrono::seconds retry_after_max = std::chrono::seconds(30);
  // Told of every attempt, before the next one; any thread, must not wait.
  std::function<void(const WebhookAttempt&)> observe = {};
  // Required: pauses pass there; nothing waits on it. Outlives the calls.
  Executor* executor = nullptr;
  Random* random = &SecureRandom();
  const Clock* clock = &RealClock();
};

// Any thread.
class Webhook final {
 public:
  using Done = HttpClient::Done;

  explicit Webhook(WebhookOptions options);
  // Does not wait. `done` is called exactly once, with an answer of 2xx or the last attempt's
  // error: the client's, or the Status that the webhook sent. Where `ctx` is done before the first
  // attempt: kTimeout, "webhook call failed: …".
  void Post(const Context& ctx, std::string json, Done done) const;

 private:
  class Attempts;
  const std::shared_ptr<const WebhookOptions> options_;
};

}  // namespace apiserver::inline v0::client
