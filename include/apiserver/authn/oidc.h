#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/auth/authenticator.h"
#include "apiserver/authn/config.h"
#include "apiserver/base/clock.h"
#include "apiserver/base/log.h"
#include "apiserver/base/metrics.h"
#include "apiserver/base/status.h"
#include "apiserver/client/http_client.h"

// Tokens of OpenID Connect: k8s.io/apiserver/plugin/pkg/authenticator/token/oidc.
namespace apiserver::inline v0::authn {

struct OidcOptions {
  // Required. Asks the issuers, each with its own certificate authority.
  client::HttpClientFactory http = nullptr;
  // Those that issuers may sign with: of "RS256", "RS384", "RS512", "PS256", "PS384", "PS512",
  // "ES256", "ES384", "ES512", "EdDSA"; empty: all but the last, as upstream.
  std::vector<std::string> signing_algorithms = {};
  std::vector<std::string> disallowed_issuers = {};
  // Of one question to an issuer, or to where a token says that its groups are told.
  std::chrono::milliseconds timeout = std::chrono::seconds(10);
  // A token that no known key has signed makes the keys be fetched again, but not sooner than this
  // after the last time; until then it is refused.
  std::chrono::nanoseconds refetch_interval = std::chrono::seconds(10);
  // Older keys are used while newer ones are fetched.
  std::chrono::nanoseconds keys_lifetime = std::chrono::hours(1);
  const Clock* clock = &RealClock();
  LogSink* log = &NullLogSink();
  // Counts apiserver_authentication_jwt_authenticator_*; outlives the authenticator. Null: no.
  metrics::Registry* metrics = nullptr;
  std::string server_id = {};  // For those metrics.
};

// Knows the tokens of some issuers. What an issuer says of itself is asked for when this is made,
// without waiting, and again by the first token if that failed.
class OidcAuthenticator final : public auth::TokenAuthenticator {
 public:
  struct Issuers;  // Private to the source.
  explicit OidcAuthenticator(std::unique_ptr<const Issuers> issuers);
  ~OidcAuthenticator() override;

  // nullopt: no token, or another issuer's. kUnauthorized: one of ours that is not good.
  // kWouldBlock: keys are being fetched; see auth/look_up.h.
  Result<std::optional<auth::AuthenticateResponse>> AuthenticateToken(
      const Context& ctx, std::string_view token) const override;
  // OK once the keys of every issuer are known; else the first one's trouble.
  Status Healthy() const;
  const Issuers& issuers() const { return *issuers_; }

 private:
  const std::unique_ptr<const Issuers> issuers_;
};

// kInvalid: a configuration that ValidateAuthenticationConfiguration refuses, an unknown algorithm,
// or a certificate authority that `http` refuses. What `previous` knows of issuers that have not
// changed is kept; may be null.
Result<std::shared_ptr<OidcAuthenticator>> NewOidc(const std::vector<JwtAuthenticator>& issuers,
                                                   const OidcOptions& options,
                                                   const OidcAuthenticator* previous = nullptr);

}  // namespace apiserver::inline v0::authn
