#include "auth/config_hash.h"

#include <openssl/sha.h>

#include <array>

namespace apiserver::v0::auth {

std::string ConfigHash(std::string_view text) {
  if (text.empty()) return "";
  std::array<unsigned char, SHA256_DIGEST_LENGTH> digest{};
  SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest.data());
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string hash = "sha256:";
  for (const unsigned char byte : digest) {
    hash += kDigits[byte >> 4];
    hash += kDigits[byte & 0xF];
  }
  return hash;
}

}  // namespace apiserver::v0::auth
