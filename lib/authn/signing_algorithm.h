#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace apiserver::inline v0::authn {

// The signature algorithms of RFC 7518 §3.1 and RFC 8037 that a token may use. `none` and HMAC are
// missing, so that no mistake can accept them.
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
// nullopt: not supported.
std::optional<SigningAlgorithm> ParseSigningAlgorithm(std::string_view name);

}  // namespace apiserver::inline v0::authn
