#pragma once

#include <string_view>

#include "apiserver/auth/service_account.h"
#include "apiserver/authn/service_account_token.h"
#include "apiserver/base/status.h"
#include "apiserver/runtime/value.h"

namespace apiserver::inline v0::authn {

// Return the account of a token if its claims are valid: those of bound tokens (claims.go), and
// those of the legacy issuer (legacy.go). kUnauthorized: they are not. kWouldBlock:
// `options.getter` would have to wait.
Result<auth::serviceaccount::ServiceAccountInfo> ValidateBoundClaims(
    const Context& ctx, const ServiceAccountTokenOptions& options, runtime::Value claims);
Result<auth::serviceaccount::ServiceAccountInfo> ValidateLegacyClaims(
    const Context& ctx, const ServiceAccountTokenOptions& options, std::string_view token,
    runtime::Value claims);

}  // namespace apiserver::inline v0::authn
