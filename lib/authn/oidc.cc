#include "apiserver/authn/oidc.h"

#include <unordered_map>
#include <utility>

#include "apiserver/base/field_path.h"
#include "auth/config_hash.h"
#include "authn/claims.h"
#include "authn/distributed_claims.h"
#include "authn/id_token.h"
#include "authn/issuer_keys.h"
#include "authn/jwt.h"
#include "base/status_macros.h"

namespace apiserver::v0::authn {
namespace {

using auth::AuthenticateResponse;
using OidcAnswer = Result<std::optional<AuthenticateResponse>>;

constexpr std::string_view kWellKnownPath = "/.well-known/openid-configuration";
constexpr const char* kRefusedIdToken = "oidc: verify token: ";

Result<std::vector<SigningAlgorithm>> AlgorithmsOf(const std::vector<std::string>& names) {
  std::vector<SigningAlgorithm> algorithms;
  for (const std::string& name : names) {
    const std::optional<SigningAlgorithm> algorithm = ParseSigningAlgorithm(name);
    if (!algorithm) {
      return Status(Reason::kInvalid, "oidc: unsupported signing alg: " + field::Quote(name));
    }
    algorithms.push_back(*algorithm);
  }
  // Empty names: every asymmetric algorithm except EdDSA, which upstream does not support.
  if (!algorithms.empty()) return algorithms;
  for (const char* name :
       {"RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512"}) {
    algorithms.push_back(*ParseSigningAlgorithm(name));
  }
  return algorithms;
}

// The tokens of one issuer.
struct OidcIssuer {
  JwtAuthenticator rules;
  IdTokenRules token_rules;
  std::shared_ptr<const IssuerKeys> keys;
  // Null: groups are not taken from a claim.
  std::shared_ptr<const DistributedClaims> distributed;
  std::string hash;

  OidcAnswer Authenticate(const Context& ctx, std::string_view token) const {
    Result<Jwt> jwt = ParseJwt(token);
    if (!jwt.ok()) {
      return Status(Reason::kUnauthorized,
                    kRefusedIdToken + ("oidc: " + std::string(jwt.status().message())));
    }
    RETURN_IF_ERROR(CheckIdToken(token_rules, *jwt, kRefusedIdToken));
    RETURN_IF_ERROR(CheckIdTokenSignature(ctx, token_rules, *jwt, *keys, kRefusedIdToken));
    if (distributed) RETURN_IF_ERROR(distributed->Expand(ctx, *jwt));
    ASSIGN_OR_RETURN(auth::UserInfo user, UserOfClaims(rules, jwt->claims));
    return std::optional(
        AuthenticateResponse{std::make_shared<const auth::UserInfo>(std::move(user))});
  }
};

// Null: nothing is counted.
metrics::Family<metrics::Histogram>* LatencyOf(metrics::Registry* metrics) {
  if (metrics == nullptr) return nullptr;
  return &metrics->Histograms(
      {.name = "apiserver_authentication_jwt_authenticator_latency_seconds",
       .help = "[ALPHA] Latency of jwt authentication operations in seconds. This is the time "
               "spent authenticating a token for cache miss only (i.e. when the token is not "
               "found in the cache).",
       .labels = {"result", "jwt_issuer_hash"}},
      {.001, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10});
}

// OpenID Connect Discovery 1.0 §4 appends the path to the issuer without its trailing slash.
std::string DiscoveryUrlOf(const Issuer& issuer) {
  if (!issuer.discovery_url.empty()) return issuer.discovery_url;
  std::string url = issuer.url;
  if (url.ends_with('/')) url.pop_back();
  return url + std::string(kWellKnownPath);
}

// `metrics` may be null: nothing is counted.
std::shared_ptr<const IssuerKeys> NewKeys(const Issuer& issuer, const OidcOptions& options,
                                          metrics::Registry* metrics,
                                          std::shared_ptr<client::HttpClient> http) {
  auto keys = std::make_shared<const IssuerKeys>(
      IssuerKeysOptions{.issuer = issuer.url,
                        .discovery_url = DiscoveryUrlOf(issuer),
                        .timeout = options.timeout,
                        .refetch_interval = options.refetch_interval,
                        .lifetime = options.keys_lifetime,
                        .clock = options.clock,
                        .log = options.log,
                        .metrics = metrics,
                        .server_id = options.server_id},
      std::move(http));
  keys->Begin();
  return keys;
}

std::shared_ptr<const DistributedClaims> NewDistributed(
    const OidcIssuer& issuer, const OidcOptions& options,
    const std::shared_ptr<client::HttpClient>& http) {
  const std::string& claim = issuer.rules.claim_mappings.groups.claim;
  // As upstream, only the groups may be distributed claims.
  if (claim.empty()) return nullptr;
  const auto new_keys = [options, http](const std::string& url) {
    return NewKeys({.url = url}, options, nullptr, http);
  };
  return std::make_shared<const DistributedClaims>(
      DistributedClaimsOptions{.claim = claim,
                               .rules = issuer.token_rules,
                               .issuer = issuer.rules.issuer.url,
                               .keys = issuer.keys,
                               .new_keys = new_keys,
                               .http = http,
                               .timeout = options.timeout,
                               .clock = options.clock});
}

// Makes an issuer with the keys `known`, or with its own if that is null.
// Keeping the keys over a reload spares a fetch, and tokens stay valid if the issuer is down.
Result<OidcIssuer> NewIssuer(const JwtAuthenticator& rules, const OidcOptions& options,
                             const std::vector<SigningAlgorithm>& algorithms,
                             std::shared_ptr<const IssuerKeys> known) {
  client::HttpClientOptions http;
  http.tls.ca_pem = rules.issuer.certificate_authority;
  http.response_bytes_max = kJwkSetBytesMax;
  ASSIGN_OR_RETURN(const std::shared_ptr<client::HttpClient> client, options.http(http));
  if (known == nullptr) known = NewKeys(rules.issuer, options, options.metrics, client);
  OidcIssuer issuer{.rules = rules,
                    .token_rules = {rules.issuer.audiences, algorithms, options.clock},
                    .keys = std::move(known),
                    .distributed = nullptr,
                    .hash = auth::ConfigHash(rules.issuer.url)};
  issuer.distributed = NewDistributed(issuer, options, client);
  return issuer;
}

}  // namespace

struct OidcAuthenticator::Issuers {
  // Returns the keys of an issuer with the same settings. Null: there is none.
  std::shared_ptr<const IssuerKeys> KeysOf(const Issuer& issuer) const {
    const auto found = by_url.find(issuer.url);
    if (found == by_url.end() || found->second.rules.issuer != issuer) return nullptr;
    return found->second.keys;
  }

  std::unordered_map<std::string, OidcIssuer> by_url;
  metrics::Family<metrics::Histogram>* latency = nullptr;
};

OidcAuthenticator::OidcAuthenticator(std::unique_ptr<const Issuers> issuers)
    : issuers_(std::move(issuers)) {}
OidcAuthenticator::~OidcAuthenticator() = default;

OidcAnswer OidcAuthenticator::AuthenticateToken(const Context& ctx, std::string_view token) const {
  std::string url = UntrustedIssuer(token);
  // Google's tokens have an issuer without scheme.
  if (url == "accounts.google.com") url.insert(0, "https://");
  const auto found = issuers_->by_url.find(url);
  if (found == issuers_->by_url.end()) return std::optional<AuthenticateResponse>();
  const OidcIssuer& issuer = found->second;
  const Clock::Monotonic begun = issuer.token_rules.clock->Now();
  OidcAnswer answer = issuer.Authenticate(ctx, token);
  // A token that waits for keys is authenticated again, and is counted then.
  if (issuers_->latency != nullptr && answer.status().reason() != Reason::kWouldBlock) {
    const std::chrono::duration<double> took = issuer.token_rules.clock->Now() - begun;
    issuers_->latency->With({answer.ok() ? "success" : "failure", issuer.hash})
        .Observe(took.count());
  }
  return answer;
}

Status OidcAuthenticator::Healthy() const {
  for (const auto& [url, issuer] : issuers_->by_url) {
    const Status trouble = issuer.keys->Healthy();
    if (trouble.ok()) continue;
    return Status(Reason::kServiceUnavailable,
                  "oidc: authenticator for issuer " + field::Quote(url) +
                      " is not healthy: " + std::string(trouble.message()));
  }
  return {};
}

Result<std::shared_ptr<OidcAuthenticator>> NewOidc(const std::vector<JwtAuthenticator>& issuers,
                                                   const OidcOptions& options,
                                                   const OidcAuthenticator* previous) {
  const field::ErrorList errors =
      ValidateAuthenticationConfiguration({.jwt = issuers}, options.disallowed_issuers);
  if (!errors.empty()) return Status(Reason::kInvalid, errors.Aggregate());
  ASSIGN_OR_RETURN(const std::vector<SigningAlgorithm> algorithms,
                   AlgorithmsOf(options.signing_algorithms));
  if (!issuers.empty() && !options.http) {
    return Status(Reason::kInvalid, "oidc: there is no client to ask the issuers with");
  }
  auto made = std::make_unique<OidcAuthenticator::Issuers>();
  made->latency = LatencyOf(options.metrics);
  for (const JwtAuthenticator& one : issuers) {
    // Keys of an unchanged issuer are kept: a reload of the configuration then refuses no tokens
    // while they are fetched.
    std::shared_ptr<const IssuerKeys> known =
        previous == nullptr ? nullptr : previous->issuers().KeysOf(one.issuer);
    ASSIGN_OR_RETURN(OidcIssuer issuer, NewIssuer(one, options, algorithms, std::move(known)));
    made->by_url.emplace(one.issuer.url, std::move(issuer));
  }
  return std::make_shared<OidcAuthenticator>(std::move(made));
}

}  // namespace apiserver::v0::authn
