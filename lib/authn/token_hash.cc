#include "authn/token_hash.h"

#include <openssl/evp.h>

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

TokenHasher::TokenHasher(Random& random)
    : sha256_(EVP_MD_fetch(nullptr, "SHA256", nullptr), &EVP_MD_free) {
  random.Fill(key_);
}

std::string TokenHasher::Hash(std::string_view token,
                              const std::vector<std::string>* audiences) const {
  std::string text(reinterpret_cast<const char*>(key_.data()), key_.size());
  text.reserve(text.size() + token.size() + 2 * sizeof(std::uint64_t));
  AppendPiece(token, text);
  if (audiences != nullptr) {
    AppendLength(audiences->size(), text);
    for (const std::string& audience : *audiences) AppendPiece(audience, text);
  }
  std::string hash(EVP_MAX_MD_SIZE, '\0');
  unsigned size = 0;
  EVP_Digest(text.data(), text.size(), reinterpret_cast<unsigned char*>(hash.data()), &size,
             sha256_.get(), nullptr);
  hash.resize(size);
  return hash;
}

}  // namespace apiserver::v0::authn
