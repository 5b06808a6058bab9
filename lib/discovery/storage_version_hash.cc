#include <openssl/evp.h>
#include <openssl/sha.h>

#include <array>
#include <string>

#include "apiserver/discovery/discovery.h"

namespace apiserver::v0::discovery {

std::string StorageVersionHash(const runtime::GroupVersionKind& gvk) {
  constexpr int kHashBytes = 8;
  const std::string text = gvk.group + "/" + gvk.version + "/" + gvk.kind;
  std::array<unsigned char, SHA256_DIGEST_LENGTH> digest{};
  SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest.data());
  // Eight bytes are twelve characters, and EVP_EncodeBlock ends with a zero.
  std::array<unsigned char, 13> encoded{};
  const int length = EVP_EncodeBlock(encoded.data(), digest.data(), kHashBytes);
  return {reinterpret_cast<const char*>(encoded.data()), static_cast<std::size_t>(length)};
}

}  // namespace apiserver::v0::discovery
