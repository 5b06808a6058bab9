#include <openssl/sha.h>

#include <array>
#include <string>

#include "apiserver/discovery/discovery.h"
#include "text/base64.h"

namespace apiserver::v0::discovery {

// Follows StorageVersionHash of apiserver/pkg/endpoints/discovery: the first 8 bytes in base64.
std::string StorageVersionHash(const runtime::GroupVersionKind& gvk) {
  constexpr std::size_t kHashBytes = 8;
  const std::string text = gvk.group + "/" + gvk.version + "/" + gvk.kind;
  std::array<unsigned char, SHA256_DIGEST_LENGTH> digest{};
  SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest.data());
  std::string hash;
  text::AppendBase64({reinterpret_cast<const char*>(digest.data()), kHashBytes}, hash);
  return hash;
}

}  // namespace apiserver::v0::discovery
