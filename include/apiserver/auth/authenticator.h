#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/auth/user.h"
#include "apiserver/base/context.h"
#include "apiserver/base/status.h"
#include "apiserver/http/message.h"

// Authentication of requests: k8s.io/apiserver/pkg/authentication/authenticator. Implementations
// are in authn.
namespace apiserver::inline v0::auth {

// An authenticated user.
struct AuthenticateResponse {
  UserInfoPtr user;                         // Never null.
  std::vector<std::string> audiences = {};  // The audiences for which the credential was checked.
};

// Authenticates a request by its credentials. Called from any thread, loops included: there `ctx`
// may not wait, and an authenticator that would have to wait returns kWouldBlock and is called
// again where waiting is allowed.
class Authenticator {
 public:
  virtual ~Authenticator() = default;
  // nullopt: the request bears no credential of this kind. kUnauthorized: it does, and the
  // credential is bad. kWouldBlock: the answer must come from elsewhere, and `ctx` may not wait.
  virtual Result<std::optional<AuthenticateResponse>> Authenticate(
      const Context& ctx, const http::Request& request) const = 0;
};

// Authenticates bearer tokens. Called from any thread; must not block where `ctx` may not, as an
// Authenticator. Its results are those of an Authenticator, too.
class TokenAuthenticator {
 public:
  virtual ~TokenAuthenticator() = default;
  // nullopt: the token is not of this authenticator's kind.
  virtual Result<std::optional<AuthenticateResponse>> AuthenticateToken(
      const Context& ctx, std::string_view token) const = 0;
};

}  // namespace apiserver::inline v0::auth
