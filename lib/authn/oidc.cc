#include "apiserver/authn/oidc.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "apiserver/base/field_path.h"
#include "auth/config_hash.h"
#include "authn/claims.h"
#include "authn/issuer_keys.h"
#include "authn/jwt.h"
#include "base/status_macros.h"

namespace apiserver::inline v0::authn {
namespace {

using auth::AuthenticateResponse;
using OidcAnswer = Result<std::optional<AuthenticateResponse>>;

constexpr std::string_view kWellKnownPath = "/.well-known/openid-configuration";
// How far in the future `nbf` may be, as other providers of OpenID Connect have it.
constexpr std::int64_t kNotBeforeLeewaySeconds = 300;

Status BadIdToken(std::string why) {
  return Status(Reason::kUnauthorized, "oidc: verify token: " + std::move(why));
}

Result<std::vector<SigningAlgorithm>> AlgorithmsOf(const std::vector<std::string>& names) {
  std::vector<SigningAlgorithm> algorithms;
  for (const std::string& name : names) {
    const std::optional<SigningAlgorithm> algorithm = ParseSigningAlgorithm(name);
    if (!algorithm) {
      return Status(Reason::kInvalid, "oidc: unsupported signing alg: " + field::Quote(name));
    }
    algorithms.push_back(*algorithm);
  }
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
  std::vector<SigningAlgorithm> algorithms;
  std::shared_ptr<const IssuerKeys> keys;
  const Clock* clock;
  std::string hash;

  OidcAnswer Authenticate(const Context& ctx, std::string_view token) const {
    const Result<Jwt> jwt = ParseJwt(token);
    if (!jwt.ok()) return BadIdToken("oidc: " + std::string(jwt.status().message()));
    RETURN_IF_ERROR(CheckAudience(jwt->claims));
    RETURN_IF_ERROR(CheckTimes(jwt->claims));
    RETURN_IF_ERROR(CheckSignature(ctx, *jwt));
    ASSIGN_OR_RETURN(auth::UserInfo user, UserOfClaims(rules, jwt->claims));
    return std::optional(
        AuthenticateResponse{std::make_shared<const auth::UserInfo>(std::move(user))});
  }

  Status CheckAudience(runtime::Value claims) const {
    const std::vector<std::string>& wanted = rules.issuer.audiences;
    const auto found = AudienceOf(claims);
    if (!found) return BadIdToken("oidc: failed to unmarshal claims: aud is no list of texts");
    for (const std::string& audience : *found) {
      if (std::ranges::find(wanted, audience) != wanted.end()) return {};
    }
    if (wanted.size() == 1) {
      return BadIdToken("oidc: expected audience " + field::Quote(wanted.front()) + " got " +
                        QuoteAll(*found));
    }
    std::vector<std::string> sorted = wanted;
    std::ranges::sort(sorted);
    return BadIdToken("oidc: expected audience in " + QuoteAll(sorted) + " got " +
                      QuoteAll(*found));
  }

  Status CheckTimes(runtime::Value claims) const {
    const std::int64_t now =
        std::chrono::floor<std::chrono::seconds>(clock->WallNow().time_since_epoch()).count();
    const auto expires = NumericDate(claims["exp"]);
    if (!expires) return BadIdToken("oidc: failed to unmarshal claims: exp is no time");
    // At the second itself it is good still, as in Go.
    if (*expires < now || (*expires == now && HasFraction())) {
      return BadIdToken("oidc: token is expired (Token Expiry: " + GoTimeText(*expires) + ")");
    }
    if (claims.Find("nbf") == nullptr || claims["nbf"].is_null()) return {};
    const auto begins = NumericDate(claims["nbf"]);
    if (!begins) return BadIdToken("oidc: failed to unmarshal claims: nbf is no time");
    if (now + kNotBeforeLeewaySeconds >= *begins) return {};
    return BadIdToken("oidc: current time " + GoTimeText(now) +
                      " before the nbf (not before) time: " + GoTimeText(*begins));
  }

  bool HasFraction() const {
    const auto now = clock->WallNow().time_since_epoch();
    return now != std::chrono::floor<std::chrono::seconds>(now);
  }

  Status CheckSignature(const Context& ctx, const Jwt& jwt) const {
    if (std::ranges::find(algorithms, jwt.algorithm) == algorithms.end()) {
      return BadIdToken("oidc: " + std::string(VerifySignature(jwt, algorithms, {}).message()));
    }
    if (const JwkSetPtr known = keys->Known()) {
      if (VerifySignature(jwt, algorithms, known->keys).ok()) return {};
    }
    // The issuer may have got new keys, also under an old name.
    ASSIGN_OR_RETURN(const JwkSetPtr newer, keys->Newer(ctx));
    const Status verified = VerifySignature(jwt, algorithms, newer->keys);
    return verified.ok() ? verified : BadIdToken(std::string(verified.message()));
  }
};

// Null where nothing is counted.
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

std::string DiscoveryUrlOf(const Issuer& issuer) {
  if (!issuer.discovery_url.empty()) return issuer.discovery_url;
  std::string url = issuer.url;
  if (url.ends_with('/')) url.pop_back();
  return url + std::string(kWellKnownPath);
}

Result<std::shared_ptr<const IssuerKeys>> NewKeys(const Issuer& issuer,
                                                  const OidcOptions& options) {
  client::HttpClientOptions http;
  http.tls.ca_pem = issuer.certificate_authority;
  http.response_bytes_max = kJwkSetBytesMax;
  ASSIGN_OR_RETURN(std::shared_ptr<client::HttpClient> client, options.http(http));
  auto keys = std::make_shared<const IssuerKeys>(
      IssuerKeysOptions{.issuer = issuer.url,
                        .discovery_url = DiscoveryUrlOf(issuer),
                        .timeout = options.timeout,
                        .refetch_interval = options.refetch_interval,
                        .lifetime = options.keys_lifetime,
                        .clock = options.clock,
                        .log = options.log,
                        .metrics = options.metrics,
                        .server_id = options.server_id},
      std::move(client));
  keys->Begin();
  return keys;
}

}  // namespace

struct OidcAuthenticator::Issuers {
  // Null: there is none such.
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
  // Google's tokens leave out the scheme.
  if (url == "accounts.google.com") url.insert(0, "https://");
  const auto found = issuers_->by_url.find(url);
  if (found == issuers_->by_url.end()) return std::optional<AuthenticateResponse>();
  const OidcIssuer& issuer = found->second;
  const Clock::Monotonic begun = issuer.clock->Now();
  OidcAnswer answer = issuer.Authenticate(ctx, token);
  if (issuers_->latency != nullptr && answer.status().reason() != Reason::kWouldBlock) {
    const std::chrono::duration<double> took = issuer.clock->Now() - begun;
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
    std::shared_ptr<const IssuerKeys> keys =
        previous == nullptr ? nullptr : previous->issuers().KeysOf(one.issuer);
    if (keys == nullptr) {
      ASSIGN_OR_RETURN(keys, NewKeys(one.issuer, options));
    }
    made->by_url.emplace(one.issuer.url, OidcIssuer{one, algorithms, std::move(keys), options.clock,
                                                    auth::ConfigHash(one.issuer.url)});
  }
  return std::make_shared<OidcAuthenticator>(std::move(made));
}

}  // namespace apiserver::inline v0::authn
