#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/base/status.h"
#include "apiserver/runtime/arena.h"
#include "apiserver/runtime/value.h"
#include "authn/jwk_set.h"
#include "authn/signature_key.h"

namespace apiserver::inline v0::authn {

// Longer tokens are malformed. A header field of HTTP/1.1 holds less here.
inline constexpr std::size_t kTokenBytesMax = 64 << 10;

// A parsed compact JWS whose payload is claims. Borrows the token. Nothing in it may be trusted
// before VerifySignature has succeeded.
struct Jwt {
  SigningAlgorithm algorithm = SigningAlgorithm::kRs256;
  std::string key_id;  // Empty: the header names none. Only compared with keys' ids.
  std::string_view signing_input;
  std::string signature;
  runtime::Arena arena;   // Holds what `claims` borrows.
  runtime::Value claims;  // A map.
};

// Returns the issuer that the token claims, without verifying anything, to choose the authenticator
// for it. Empty: it is no token, or names none. Reads the payload only.
std::string UntrustedIssuer(std::string_view token);

// Parses a token. kUnauthorized: longer than kTokenBytesMax; not three parts of base64url; header
// or claims no JSON object, or one with a duplicate member; an unsupported algorithm; header
// `crit`. Keys in or behind a header (jwk, jku, x5c, x5u) are ignored.
Result<Jwt> ParseJwt(std::string_view token);

// The most keys that are tried for a signature: those of the key id, or all if the token has none.
inline constexpr std::size_t kKeysTriedMax = 16;
// Verifies the signature. kUnauthorized: `allowed` lacks the algorithm, or the signature is of none
// of the keys.
Status VerifySignature(const Jwt& jwt, std::span<const SigningAlgorithm> allowed,
                       std::span<const Jwk> keys);
// True if the token's header refers to one of the keys.
bool HasKeyFor(const Jwt& jwt, std::span<const Jwk> keys);

// Reads RFC 7519's NumericDate in whole seconds. nullopt: not a number, or out of range.
std::optional<std::int64_t> NumericDate(runtime::Value value);
// Reads the claim `aud`, one text or a list. nullopt: absent, or of another type.
std::optional<std::vector<std::string>> AudienceOf(runtime::Value claims);

// Returns `claims` as a signed token. An empty `key_id` is left out of the header.
Result<std::string> SignJwt(const SigningKey& key, SigningAlgorithm algorithm,
                            std::string_view key_id, std::string_view claims);

}  // namespace apiserver::inline v0::authn
