#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace apiserver::inline v0::authn {

// The signatures of RFC 7518 §3.1 and RFC 8037 that a token may bear. There is no `none` and no
// HMAC, so that no mistake can let one in.
enum class SigningAlgorithm : std::uint8_t {
  kRs256,
  kRs384,
  kRs512,
  kPs256,
  kPs384,
  kPs512,
  kEs256,
  kEs384,
  kEs512,
  kEdDsa,
};

// "RS256".
std::string_view NameOf(SigningAlgorithm algorithm);
// nullopt: none of ours.
std::optional<SigningAlgorithm> ParseSigningAlgorithm(std::string_view name);

}  // namespace apiserver::inline v0::authn
