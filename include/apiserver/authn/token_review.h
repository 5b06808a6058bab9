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

// Tokens that another server knows: k8s.io/apiserver/plugin/pkg/authenticator/token/webhook behind
// pkg/authentication/token/cache.
namespace apiserver::inline v0::authn {

struct TokenReviewOptions {
  // Required. Brings the caller's own credentials (client::NewFollowedClient does).
  std::shared_ptr<client::HttpClient> client;
  // Required: where reviews are posted, of a cluster
  // "https://host/apis/authentication.k8s.io/v1/tokenreviews".
  std::string url = {};
  std::string version = "v1";  // Of authentication.k8s.io; or "v1beta1".
  // For whom a review speaks that does not say for whom (a webhook that knows no audiences).
  std::vector<std::string> implicit_audiences = {};
  std::chrono::milliseconds timeout = std::chrono::seconds(10);  // Of a review, retries included.
  client::Backoff backoff = {};                                  // Between attempts at a review.
  // Pauses between attempts pass there; outlives the calls. Null: one attempt is all.
  Executor* executor = nullptr;
  // How long it is remembered that a token is known, or not known; zero: not at all. Errors, also
  // those the answer itself names, are not remembered.
  std::chrono::milliseconds success_ttl = std::chrono::seconds(10);
  std::chrono::milliseconds failure_ttl = std::chrono::seconds(10);
  // Tokens remembered; over it the least recently used is forgotten.
  std::size_t cache_entries_max = 32'768;
  // Reviews under way; over it further unknown tokens are answered kTooManyRequests.
  std::size_t in_flight_max = 1'000;
  const Clock* clock = &RealClock();
  Random* random = &SecureRandom();
  LogSink* log = &NullLogSink();
  // Counts authentication_token_cache_* and apiserver_delegated_authn_request_*; outlives the
  // authenticator. Null: no.
  metrics::Registry* metrics = nullptr;
};

// Asks for a TokenReview of each token that is not remembered; requests with the same token share
// one. Tokens themselves are not kept: memory holds keyed hashes. Holds no thread while it asks
// (see auth/look_up.h). kInternalError: the review failed, or its answer is none. kUnauthorized:
// the answer says why the token is bad. kInvalid: no client, no URL, or a version that is unknown.
Result<std::unique_ptr<auth::TokenAuthenticator>> NewTokenReview(const TokenReviewOptions& options);

}  // namespace apiserver::inline v0::authn
