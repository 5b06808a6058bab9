#include "auth/config_hash.h"

#include <openssl/sha.h>

#include <array>

#include "text/hex.h"

namespace apiserver::v0::auth {

// Writes the hash as the configuration metrics of k8s.io/apiserver do. Empty text has none.
std::string ConfigHash(std::string_view text) {
  if (text.empty()) return "";
  std::array<unsigned char, SHA256_DIGEST_LENGTH> digest{};
  SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest.data());
  std::string hash = "sha256:";
  text::AppendHex(digest, hash);
  return hash;
}

}  // namespace apiserver::v0::auth
