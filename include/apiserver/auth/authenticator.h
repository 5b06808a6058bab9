#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/auth/user.h"
#include "apiserver/base/context.h"
#include "apiserver/base/status.h"
#include "apiserver/http/message.h"

// Who is it? k8s.io/apiserver/pkg/authentication/authenticator. Implementations are in authn.
namespace apiserver::inline v0::auth {

struct AuthenticateResponse {
  UserInfoPtr user;                         // Never null.
  std::vector<std::string> audiences = {};  // Those the credential was checked for.
};

// Reads the credentials of a request. Any thread, loops among them: there `ctx` must not wait, and
// what would have to is kWouldBlock, and asked again where waiting is allowed.
class Authenticator {
 public:
  virtual ~Authenticator() = default;
  // nullopt: the request bears no credential of this kind. kUnauthorized: it does, and the
  // credential is bad. kWouldBlock: somebody must be asked, and `ctx` must not wait.
  virtual Result<std::optional<AuthenticateResponse>> Authenticate(
      const Context& ctx, const http::Request& request) const = 0;
};

// Knows bearer tokens. Any thread; results as Authenticator.
class TokenAuthenticator {
 public:
  virtual ~TokenAuthenticator() = default;
  virtual Result<std::optional<AuthenticateResponse>> AuthenticateToken(
      const Context& ctx, std::string_view token) const = 0;
};

}  // namespace apiserver::inline v0::auth
