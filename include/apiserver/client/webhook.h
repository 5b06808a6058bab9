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

// Posts a JSON document to a webhook and returns its response, with retries:
// k8s.io/apiserver/pkg/util/webhook.
namespace apiserver::inline v0::client {

// The pauses between attempts: `duration`, then longer by `factor` each time, each plus up to
// `jitter` of itself. As k8s.io/apimachinery/pkg/util/wait.Backoff.
struct Backoff {
  std::chrono::nanoseconds duration = std::chrono::milliseconds(500);
  double factor = 1.5;
  double jitter = 0.2;
  int steps = 5;  // Attempts, the first included. Zero: every call fails without one.
};

// Returns the pause after the attempt of this number, from 0. `random` is used if there is a
// jitter.
std::chrono::nanoseconds PauseAfter(const Backoff& backoff, int attempt, Random& random);

// True if a retry may help after `error`: a reset connection, an internal error, 504, 429, or any
// error with a Retry-After.
bool DefaultShouldRetry(const Status& error);

// One attempt, for metrics.
struct WebhookAttempt {
  int code = 0;  // The code of the response; zero: there was none.
  Status error;  // OK: the response was accepted.
  std::chrono::nanoseconds latency{0};
};

// Options of a Webhook.
struct WebhookOptions {
  std::shared_ptr<HttpClient> client = {};                       // Required.
  std::string url = {};                                          // Required.
  http::Headers headers = {};                                    // Beside Content-Type and Accept.
  std::chrono::milliseconds timeout = std::chrono::seconds(30);  // The limit of one attempt.
  Backoff backoff = {};
  // Decides whether an attempt is repeated. Any thread; must not block.
  std::function<bool(const Status& error)> should_retry = DefaultShouldRetry;
  // Checks a response of 2xx. An error fails the call without a retry. Any thread; must not block.
  // Empty: every response is accepted.
  std::function<Status(const http::ClientResponse& answer)> check = {};
  // A response's Retry-After is honoured up to this.
  std::chrono::seconds retry_after_max = std::chrono::seconds(30);
  // Called with every attempt, before the next one. Any thread; must not block. Empty: not called.
  std::function<void(const WebhookAttempt&)> observe = {};
  // Required. Runs the timers of pauses; nothing waits on it. Outlives the calls.
  Executor* executor = nullptr;
  Random* random = &SecureRandom();
  const Clock* clock = &RealClock();
};

// A webhook that can be called. Methods may be called from any thread.
class Webhook final {
 public:
  using Done = HttpClient::Done;

  // `options` must have a client, a URL and an executor.
  explicit Webhook(WebhookOptions options);
  // Starts a call without waiting. `done` is called exactly once, on any thread, and must not
  // block. It gets a response of 2xx or the last attempt's error: the client's, or the Status that
  // the webhook sent. kTimeout, "webhook call failed: …": `ctx` was done before the first attempt.
  void Post(const Context& ctx, std::string json, Done done) const;

 private:
  class Attempts;
  const std::shared_ptr<const WebhookOptions> options_;
};

}  // namespace apiserver::inline v0::client
