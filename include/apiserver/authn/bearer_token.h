#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/auth/authenticator.h"

// `Authorization: Bearer …`: k8s.io/apiserver/pkg/authentication/request/bearertoken.
namespace apiserver::inline v0::authn {

// Authenticates the bearer token of a request by `tokens`. kUnauthorized: they do not know it. The
// authentication filter removes the header once a request is authenticated, so that nothing behind
// can use it.
std::unique_ptr<auth::Authenticator> NewBearerToken(
    std::shared_ptr<const auth::TokenAuthenticator> tokens);

// True if the header holds no token because of a second space after `Bearer`. Such a request counts
// as one without credentials; the server should answer it with the warning.
bool HasSpaceBeforeToken(const http::Request& request);
inline constexpr std::string_view kTokenWithSpaceWarning =
    "the provided Authorization header contains extra space before the bearer token, and is "
    "ignored";

// A token with its user.
struct StaticToken {
  std::string token;  // Required; an empty one is never matched.
  auth::UserInfo user;
};
// Authenticates fixed tokens, compared in constant time.
std::unique_ptr<auth::TokenAuthenticator> NewStaticTokens(std::vector<StaticToken> tokens);

}  // namespace apiserver::inline v0::authn
