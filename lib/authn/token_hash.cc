#include "authn/token_hash.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <cstdint>

namespace apiserver::v0::authn {
namespace {

// Little-endian, always 8 bytes: the same tokens give the same text on every machine.
void AppendLength(std::size_t length, std::string& out) {
  for (int shift = 0; shift < 64; shift += 8) out += static_cast<char>(length >> shift);
}

// Prefixes the length, so that "xy" + "z" is not "x" + "yz".
void AppendPiece(std::string_view piece, std::string& out) {
  AppendLength(piece.size(), out);
  out += piece;
}

}  // namespace

std::string TokenHasher::Hash(std::string_view token,
                              const std::vector<std::string>* audiences) const {
  std::string text;
  AppendPiece(token, text);
  if (audiences != nullptr) {
    AppendLength(audiences->size(), text);
    for (const std::string& audience : *audiences) AppendPiece(audience, text);
  }
  std::string hash(EVP_MAX_MD_SIZE, '\0');
  unsigned size = 0;
  HMAC(EVP_sha256(), key_.data(), static_cast<int>(key_.size()),
       reinterpret_cast<const unsigned char*>(text.data()), text.size(),
       reinterpret_cast<unsigned char*>(hash.data()), &size);
  hash.resize(size);
  return hash;
}

}  // namespace apiserver::v0::authn
