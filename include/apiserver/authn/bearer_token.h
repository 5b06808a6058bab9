#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/auth/authenticator.h"

// `Authorization: Bearer …`: k8s.io/apiserver/pkg/authentication/request/bearertoken.
namespace apiserver::inline v0::authn {

// Asks `tokens` about a request's bearer token. kUnauthorized: it knows no such token. Whoever sets
// this up removes the header once a request is authenticated, so that nothing behind can use it.
std::unique_ptr<auth::Authenticator> NewBearerToken(
    std::shared_ptr<const auth::TokenAuthenticator> tokens);

// Whether the header holds no token because of a second space after `Bearer`. Such a request is
// taken for one without credentials; it deserves the warning.
bool HasSpaceBeforeToken(const http::Request& request);
inline constexpr std::string_view kTokenWithSpaceWarning =
    "the provided Authorization header contains extra space before the bearer token, and is "
    "ignored";

struct StaticToken {
  std::string token;  // Required; an empty one is never matched.
  auth::UserInfo user;
};
// Tokens known beforehand, compared in constant time.
std::unique_ptr<auth::TokenAuthenticator> NewStaticTokens(std::vector<StaticToken> tokens);

}  // namespace apiserver::inline v0::authn
