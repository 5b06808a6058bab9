#include "storage/value/cipher.h"

#include <openssl/hmac.h>

#include <array>

namespace apiserver::v0::storage::value {
namespace {

struct FreeContext {
  void operator()(EVP_CIPHER_CTX* context) const { EVP_CIPHER_CTX_free(context); }
};
using CipherContext = std::unique_ptr<EVP_CIPHER_CTX, FreeContext>;

const unsigned char* Bytes(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}
unsigned char* Bytes(std::string& text, std::size_t from = 0) {
  return reinterpret_cast<unsigned char*>(text.data() + from);
}
// The cast is safe: stored values are far below 2 GiB, by every engine's limit.
int Length(std::string_view text) { return static_cast<int>(text.size()); }

const EVP_CIPHER* Gcm(std::size_t key_bytes) {
  if (key_bytes == 16) return EVP_aes_128_gcm();
  return key_bytes == 24 ? EVP_aes_192_gcm() : EVP_aes_256_gcm();
}
const EVP_CIPHER* Cbc(std::size_t key_bytes) {
  if (key_bytes == 16) return EVP_aes_128_cbc();
  return key_bytes == 24 ? EVP_aes_192_cbc() : EVP_aes_256_cbc();
}

constexpr std::string_view kFailed = "the cipher library failed";

}  // namespace

Status NewCipherError(std::string_view message) {
  return Status(Reason::kInternalError, std::string(message));
}

Status CheckAesKey(std::size_t bytes) {
  if (bytes == 16 || bytes == 24 || bytes == 32) return {};
  return Status(Reason::kInvalid, "crypto/aes: invalid key size " + std::to_string(bytes));
}

void AppendRandom(Random& random, std::size_t count, std::string& out) {
  const std::size_t begin = out.size();
  out.resize(begin + count);
  random.Fill(std::as_writable_bytes(std::span(out).subspan(begin)));
}

Status GcmSeal(const Secret& key, std::string_view nonce, std::string_view plain,
               std::string_view authenticated, std::string& out) {
  const CipherContext context(EVP_CIPHER_CTX_new());
  const std::size_t begin = out.size();
  out.resize(begin + plain.size() + kGcmTagBytes);
  int length = 0;
  int rest = 0;
  const bool done =
      context != nullptr &&
      EVP_EncryptInit_ex(context.get(), Gcm(key.size()), nullptr, key.data(), Bytes(nonce)) == 1 &&
      (authenticated.empty() ||
       EVP_EncryptUpdate(context.get(), nullptr, &length, Bytes(authenticated),
                         Length(authenticated)) == 1) &&
      EVP_EncryptUpdate(context.get(), Bytes(out, begin), &length, Bytes(plain), Length(plain)) ==
          1 &&
      EVP_EncryptFinal_ex(context.get(), Bytes(out, begin + plain.size()), &rest) == 1 &&
      EVP_CIPHER_CTX_ctrl(context.get(), EVP_CTRL_GCM_GET_TAG, kGcmTagBytes,
                          Bytes(out, begin + plain.size())) == 1;
  return done ? Status() : NewCipherError(kFailed);
}

Result<std::string> GcmOpen(const Secret& key, std::string_view nonce, std::string_view sealed,
                            std::string_view authenticated) {
  constexpr std::string_view kRefused = "cipher: message authentication failed";
  if (sealed.size() < kGcmTagBytes) return NewCipherError(kRefused);
  const std::string_view text = sealed.substr(0, sealed.size() - kGcmTagBytes);
  std::string tag(sealed.substr(text.size()));
  std::string plain(text.size(), '\0');
  const CipherContext context(EVP_CIPHER_CTX_new());
  int length = 0;
  int rest = 0;
  const bool ready =
      context != nullptr &&
      EVP_DecryptInit_ex(context.get(), Gcm(key.size()), nullptr, key.data(), Bytes(nonce)) == 1 &&
      (authenticated.empty() ||
       EVP_DecryptUpdate(context.get(), nullptr, &length, Bytes(authenticated),
                         Length(authenticated)) == 1) &&
      EVP_DecryptUpdate(context.get(), Bytes(plain), &length, Bytes(text), Length(text)) == 1 &&
      EVP_CIPHER_CTX_ctrl(context.get(), EVP_CTRL_GCM_SET_TAG, kGcmTagBytes, Bytes(tag)) == 1;
  if (!ready) return NewCipherError(kFailed);
  // GCM decrypts as a stream, so that nothing is left for the last call, which checks the tag. Only
  // after it may `plain` be used.
  std::array<unsigned char, 16> none;
  if (EVP_DecryptFinal_ex(context.get(), none.data(), &rest) != 1) return NewCipherError(kRefused);
  return plain;
}

Status CbcEncrypt(const Secret& key, std::string_view iv, std::string_view padded,
                  std::string& out) {
  const CipherContext context(EVP_CIPHER_CTX_new());
  const std::size_t begin = out.size();
  out.resize(begin + padded.size());
  int length = 0;
  const bool done =
      context != nullptr &&
      EVP_EncryptInit_ex(context.get(), Cbc(key.size()), nullptr, key.data(), Bytes(iv)) == 1 &&
      // The caller has padded already; OpenSSL would add a whole block.
      EVP_CIPHER_CTX_set_padding(context.get(), 0) == 1 &&
      EVP_EncryptUpdate(context.get(), Bytes(out, begin), &length, Bytes(padded), Length(padded)) ==
          1;
  return done ? Status() : NewCipherError(kFailed);
}

Result<std::string> CbcDecrypt(const Secret& key, std::string_view iv, std::string_view blocks) {
  const CipherContext context(EVP_CIPHER_CTX_new());
  std::string plain(blocks.size(), '\0');
  int length = 0;
  const bool done =
      context != nullptr &&
      EVP_DecryptInit_ex(context.get(), Cbc(key.size()), nullptr, key.data(), Bytes(iv)) == 1 &&
      EVP_CIPHER_CTX_set_padding(context.get(), 0) == 1 &&
      EVP_DecryptUpdate(context.get(), Bytes(plain), &length, Bytes(blocks), Length(blocks)) == 1;
  if (!done) return NewCipherError(kFailed);
  return plain;
}

std::string HkdfExpand(const Secret& seed, std::string_view info) {
  // 32 bytes are one round of RFC 5869: T(1) = HMAC(seed, info | 1).
  std::string message(info);
  message.push_back('\x01');
  std::string derived(32, '\0');
  unsigned int length = 0;
  HMAC(EVP_sha256(), seed.data(), static_cast<int>(seed.size()), Bytes(std::string_view(message)),
       message.size(), Bytes(derived), &length);
  return derived;
}

}  // namespace apiserver::v0::storage::value
