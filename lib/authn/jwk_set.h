#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/base/status.h"
#include "authn/signature_key.h"

namespace apiserver::inline v0::authn {

// A key with the attributes that its publisher gives it.
struct Jwk {
  VerificationKey key;
  std::string id = {};  // Empty: it has none.
  // The only algorithm it may be used with, if the set names one.
  std::optional<SigningAlgorithm> algorithm = std::nullopt;
};

struct JwkSet {
  std::vector<Jwk> keys;
  // The reasons why keys were skipped: "keys[1]: ...".
  std::vector<std::string> skipped = {};
};

inline constexpr std::size_t kJwkSetBytesMax = 1 << 20;
inline constexpr std::size_t kJwkSetKeysMax = 256;

// Parses a set by RFC 7517. Keys for other uses than signatures, of unknown types, malformed, or
// with an alg that is not supported are skipped. kInvalid: not a set, too large, or no key left.
Result<JwkSet> ParseJwkSet(std::string_view json);

}  // namespace apiserver::inline v0::authn
