#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "apiserver/auth/user.h"
#include "apiserver/authn/config.h"
#include "apiserver/base/context.h"
#include "apiserver/base/status.h"
#include "apiserver/runtime/value.h"
#include "authn/expressions.h"

// Reads the claims of a verified token as encoding/json would.
namespace apiserver::inline v0::authn {

// Read a claim. kUnauthorized: "claim not present", or it has another type, in Go's words; null
// reads as empty.
Result<std::string> TextClaim(runtime::Value claims, const std::string& name);
Result<bool> BoolClaim(runtime::Value claims, const std::string& name);
// Reads one text, or a list of them.
Result<std::vector<std::string>> TextsClaim(runtime::Value claims, const std::string& name);

// Applies the issuer's rules and expressions to the claims and returns the user, in the order of
// the Go authenticator: username, groups, uid, extra, required values, rules for claims, rules for
// the user. kUnauthorized: a rule does not hold, or an expression failed.
Result<auth::UserInfo> UserOfClaims(const Context& ctx, const JwtAuthenticator& rules,
                                    const IssuerExpressions& expressions, runtime::Value claims);

// Formats a time as fmt prints it in UTC: "2009-11-10 23:00:00 +0000 UTC".
std::string GoTimeText(std::int64_t unix_seconds);

}  // namespace apiserver::inline v0::authn
