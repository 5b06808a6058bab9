#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "apiserver/auth/authenticator.h"
#include "apiserver/base/clock.h"
#include "apiserver/base/executor.h"
#include "apiserver/base/log.h"
#include "apiserver/base/metrics.h"
#include "apiserver/base/random.h"
#include "apiserver/base/status.h"
#include "apiserver/client/http_client.h"
#include "apiserver/client/webhook.h"

// Authenticates tokens by another server: k8s.io/apiserver/plugin/pkg/authenticator/token/webhook
// behind pkg/authentication/token/cache.
namespace apiserver::inline v0::authn {

// Options of NewTokenReview().
struct TokenReviewOptions {
  // Required. Adds the caller's own credentials (client::NewFollowedClient does).
  std::shared_ptr<client::HttpClient> client;
  // Required: the URL to which reviews are posted; for a cluster
  // "https://host/apis/authentication.k8s.io/v1/tokenreviews".
  std::string url = {};
  std::string version = "v1";  // The version of authentication.k8s.io; or "v1beta1".
  // The audiences of a review that names none (from a webhook that does not know audiences).
  std::vector<std::string> implicit_audiences = {};
  // The limit of a review, retries included.
  std::chrono::milliseconds timeout = std::chrono::seconds(10);
  client::Backoff backoff = {};  // Pauses between its attempts.
  // Runs the timers of pauses; outlives the calls. Null: there is one attempt.
  Executor* executor = nullptr;
  // How long a positive and a negative result are cached; zero: not at all. Errors are not cached,
  // nor are those that the response itself names.
  std::chrono::milliseconds success_ttl = std::chrono::seconds(10);
  std::chrono::milliseconds failure_ttl = std::chrono::seconds(10);
  // The most tokens in the cache; beyond, the least recently used one is dropped.
  std::size_t cache_entries_max = 32'768;
  // The most reviews in flight; beyond, further uncached tokens get kTooManyRequests.
  std::size_t in_flight_max = 1'000;
  const Clock* clock = &RealClock();
  Random* random = &SecureRandom();
  LogSink* log = &NullLogSink();
  // Counts authentication_token_cache_* and apiserver_delegated_authn_request_*; outlives the
  // authenticator. Null: not counted.
  metrics::Registry* metrics = nullptr;
};

// Requests a TokenReview for each token that is not cached; requests with the same token share one.
// Tokens themselves are not kept: memory holds keyed hashes. Holds no thread while it waits for a
// review (see auth/look_up.h). kInvalid: no client, no URL, or an unknown version. Its results:
// kInternalError: the review failed, or the response is no TokenReview; kUnauthorized: the response
// says why the token is bad.
Result<std::unique_ptr<auth::TokenAuthenticator>> NewTokenReview(const TokenReviewOptions& options);

}  // namespace apiserver::inline v0::authn
