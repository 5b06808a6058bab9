#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "apiserver/base/clock.h"
#include "apiserver/base/context.h"
#include "apiserver/base/status.h"
#include "authn/issuer_keys.h"
#include "authn/jwt.h"
#include "authn/signing_algorithm.h"

namespace apiserver::inline v0::authn {

// The requirements for every ID token, of any issuer: github.com/coreos/go-oidc, IDTokenVerifier.
struct IdTokenRules {
  std::vector<std::string> audiences;  // One of them.
  std::vector<SigningAlgorithm> algorithms;
  const Clock* clock;
};

// Checks everything but the signature. kUnauthorized: `refusal`, and why.
Status CheckIdToken(const IdTokenRules& rules, const Jwt& jwt, std::string_view refusal);
// Checks the signature. kWouldBlock: keys are being fetched. kUnauthorized: there are none; or
// `refusal`, and why.
Status CheckIdTokenSignature(const Context& ctx, const IdTokenRules& rules, const Jwt& jwt,
                             const IssuerKeys& keys, std::string_view refusal);

}  // namespace apiserver::inline v0::authn
