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

// ID tokens of OpenID Connect: k8s.io/apiserver/plugin/pkg/authenticator/token/oidc.
namespace apiserver::inline v0::authn {

// Options of NewOidc().
struct OidcOptions {
  // Required. Makes the clients of issuers, each with its own certificate authority.
  client::HttpClientFactory http = nullptr;
  // Accepted signature algorithms, of "RS256", "RS384", "RS512", "PS256", "PS384", "PS512",
  // "ES256", "ES384", "ES512", "EdDSA". Empty: all but the last, as upstream.
  std::vector<std::string> signing_algorithms = {};
  std::vector<std::string> disallowed_issuers = {};
  // The limit of one request to an issuer, or to the endpoint of a distributed claim.
  std::chrono::milliseconds timeout = std::chrono::seconds(10);
  // The minimum time between two fetches of keys. A token that no known key has signed triggers a
  // fetch; until then it is refused.
  std::chrono::nanoseconds refetch_interval = std::chrono::seconds(10);
  // Keys older than this are used while newer ones are fetched.
  std::chrono::nanoseconds keys_lifetime = std::chrono::hours(1);
  const Clock* clock = &RealClock();
  LogSink* log = &NullLogSink();
  // Counts apiserver_authentication_jwt_authenticator_*; outlives the authenticator. Null: not
  // counted.
  metrics::Registry* metrics = nullptr;
  std::string server_id = {};  // A label of those metrics.
};

// Authenticates the tokens of some issuers. Each issuer's discovery document is requested when this
// is made, without waiting, and again by the first token if that failed.
class OidcAuthenticator final : public auth::TokenAuthenticator {
 public:
  struct Issuers;  // Private to the source.
  // Only for NewOidc().
  explicit OidcAuthenticator(std::unique_ptr<const Issuers> issuers);
  ~OidcAuthenticator() override;

  // nullopt: no token, or one of another issuer. kUnauthorized: a token of a known issuer that is
  // not valid. kWouldBlock: keys are being fetched; see auth/look_up.h.
  Result<std::optional<auth::AuthenticateResponse>> AuthenticateToken(
      const Context& ctx, std::string_view token) const override;
  // OK once the keys of all issuers have been fetched; else the error of the first one without.
  Status Healthy() const;
  const Issuers& issuers() const { return *issuers_; }

 private:
  const std::unique_ptr<const Issuers> issuers_;
};

// kInvalid: a configuration that ValidateAuthenticationConfiguration refuses, an unknown algorithm,
// or a certificate authority that `http` refuses. Issuers that have not changed keep the keys that
// `previous` (may be null) has fetched.
Result<std::shared_ptr<OidcAuthenticator>> NewOidc(const std::vector<JwtAuthenticator>& issuers,
                                                   const OidcOptions& options,
                                                   const OidcAuthenticator* previous = nullptr);

}  // namespace apiserver::inline v0::authn
