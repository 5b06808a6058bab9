#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "apiserver/base/clock.h"
#include "apiserver/base/context.h"
#include "apiserver/base/status.h"
#include "apiserver/base/sync.h"
#include "apiserver/client/http_client.h"
#include "auth/cached_look_ups.h"
#include "authn/id_token.h"
#include "authn/issuer_keys.h"
#include "authn/jwt.h"

// Claims that a token leaves to another endpoint: OpenID Connect Core §5.6.2.
namespace apiserver::inline v0::authn {

// Returns the fault of a token's _claim_names and _claim_sources; empty: none. As go-oidc, all
// names must have a source, used or not.
std::string ClaimSourcesProblem(runtime::Value claims);

// The most issuers, other than the token's own, whose keys are kept; further ones are refused.
inline constexpr std::size_t kClaimIssuersMax = 16;
// How long an endpoint's response is kept: as long as kube-apiserver keeps the result for a whole
// token.
inline constexpr std::chrono::seconds kClaimLifetime{10};

struct DistributedClaimsOptions {
  std::string claim;  // The only one that is asked for, as upstream.
  IdTokenRules rules;
  std::string issuer;  // The issuer of `keys`.
  std::shared_ptr<const IssuerKeys> keys;
  // Makes the keys of further issuers; the URL is https. Called on the thread that authenticates;
  // must not block.
  std::function<std::shared_ptr<const IssuerKeys>(const std::string& issuer)> new_keys;
  // Calls the endpoints. It limits responses (HttpClientOptions::response_bytes_max) and follows no
  // redirects.
  std::shared_ptr<client::HttpClient> http;
  std::chrono::milliseconds timeout;
  const Clock* clock;
};

// Asks the endpoints that one issuer's tokens name. An endpoint answers a token of its own, which
// must be signed by its issuer's keys, and for the same audiences. Any thread.
//
// Differences from upstream: endpoints and issuers must be https, so that an access token is never
// sent in the clear; redirects are not followed; what was told holds ten seconds; no URL's user,
// query or fragment is in an error.
class DistributedClaims final {
 public:
  explicit DistributedClaims(DistributedClaimsOptions options);

  // Puts the claim into `jwt` if it is distributed. kWouldBlock: its endpoint is being called; see
  // auth/look_up.h. kUnauthorized: it could not be fetched.
  Status Expand(const Context& ctx, Jwt& jwt) const;

 private:
  struct Endpoint {
    std::string url;
    std::string access_token;  // Empty: none is sent.
  };
  Result<std::optional<Endpoint>> EndpointOf(runtime::Value claims) const;
  // Fetches the token from the endpoint.
  Result<std::string> Fetch(const Context& ctx, const Endpoint& endpoint) const;
  Result<std::shared_ptr<const IssuerKeys>> KeysOf(const std::string& issuer) const;
  Status Resolve(const Context& ctx, const Endpoint& endpoint, Jwt& jwt) const;

  const DistributedClaimsOptions options_;
  mutable auth::CachedLookUps<std::string> told_;
  mutable Guarded<std::map<std::string, std::shared_ptr<const IssuerKeys>>> others_;
};

}  // namespace apiserver::inline v0::authn
