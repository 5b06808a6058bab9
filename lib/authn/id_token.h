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

// What every ID token must show, whoever's it is: github.com/coreos/go-oidc, IDTokenVerifier.
struct IdTokenRules {
  std::vector<std::string> audiences;  // One of them.
  std::vector<SigningAlgorithm> algorithms;
  const Clock* clock;
};

// All but the signature. kUnauthorized: `refusal`, and why.
Status CheckIdToken(const IdTokenRules& rules, const Jwt& jwt, std::string_view refusal);
// kWouldBlock: keys are being fetched. kUnauthorized: there are none; or `refusal`, and why.
Status CheckIdTokenSignature(const Context& ctx, const IdTokenRules& rules, const Jwt& jwt,
                             const IssuerKeys& keys, std::string_view refusal);

}  // namespace apiserver::inline v0::authn
