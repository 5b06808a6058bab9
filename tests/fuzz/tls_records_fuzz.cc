#include <openssl/evp.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "http/tls_library.h"
#include "require.h"

// A record of TLS 1.2 or 1.3 that a peer sends is accepted or refused by TLS's AES-GCM as it is by
// OpenSSL's own. The first bytes choose the key's size and the version, whether the record is one
// of the key's at all, and the byte that was changed on its way, if any.
namespace {

using apiserver::http::TlsLibrary;
using apiserver_fuzz::Require;
using Context = std::unique_ptr<EVP_CIPHER_CTX, void (*)(EVP_CIPHER_CTX*)>;

constexpr std::size_t kChoiceBytes = 5;
constexpr std::size_t kHeadBytes = 13;
constexpr std::size_t kSentNonceBytes = 8;
constexpr std::size_t kTagBytes = 16;
constexpr unsigned char kKey[] = "the key of a fuzz target, 32 of.";
constexpr unsigned char kNonce[] = "twelve bytes";

unsigned char* Bytes(std::string& text) { return reinterpret_cast<unsigned char*>(text.data()); }

Context Start(OSSL_LIB_CTX* library, bool long_key, bool encrypts) {
  const std::unique_ptr<EVP_CIPHER, void (*)(EVP_CIPHER*)> cipher(
      EVP_CIPHER_fetch(library, long_key ? "AES-256-GCM" : "AES-128-GCM", nullptr),
      EVP_CIPHER_free);
  Context context(EVP_CIPHER_CTX_new(), EVP_CIPHER_CTX_free);
  Require(EVP_CipherInit_ex(context.get(), cipher.get(), nullptr, kKey, kNonce, encrypts ? 1 : 0) ==
          1);
  return context;
}

// TLS 1.2: the record has its nonce in front, and its tag behind. std::nullopt: refused.
std::optional<std::string> Take12(EVP_CIPHER_CTX* context, std::string record) {
  const bool encrypts = EVP_CIPHER_CTX_is_encrypting(context) == 1;
  // The tag counts in what is received only.
  const std::size_t counted = record.size() - (encrypts ? kTagBytes : 0);
  std::string head = "sequence\x17\x03\x03";
  head += {static_cast<char>(counted >> 8U), static_cast<char>(counted)};
  int size = 0;
  unsigned char fixed[] = {kNonce[0], kNonce[1], kNonce[2], kNonce[3]};
  Require(EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_GCM_SET_IV_FIXED, sizeof(fixed), fixed) == 1);
  if (EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_TLS1_AAD, kHeadBytes, head.data()) <= 0 ||
      EVP_CipherUpdate(context, Bytes(record), &size, Bytes(record),
                       static_cast<int>(record.size())) != 1) {
    return std::nullopt;
  }
  return encrypts ? record : record.substr(kSentNonceBytes, static_cast<std::size_t>(size));
}

// TLS 1.3: the record has its tag behind.
std::optional<std::string> Take13(EVP_CIPHER_CTX* context, std::string record) {
  if (record.size() <= kTagBytes) return std::nullopt;
  const bool encrypts = EVP_CIPHER_CTX_is_encrypting(context) == 1;
  unsigned char* const tag = Bytes(record) + record.size() - kTagBytes;
  int size = 0;
  if (!encrypts) {
    Require(EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, kTagBytes, tag) == 1);
  }
  const int text_size = static_cast<int>(record.size() - kTagBytes);
  const unsigned char head[] = {0x17, 3, 3, static_cast<unsigned char>(record.size() >> 8U),
                                static_cast<unsigned char>(record.size())};
  if (EVP_CipherUpdate(context, nullptr, &size, head, sizeof(head)) != 1 ||
      EVP_CipherUpdate(context, Bytes(record), &size, Bytes(record), text_size) != 1 ||
      EVP_CipherFinal_ex(context, tag, &size) != 1) {
    return std::nullopt;
  }
  if (encrypts) {
    Require(EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, kTagBytes, tag) == 1);
  }
  return record;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // Without a faster cipher here there is nothing to compare.
  if (TlsLibrary() == nullptr || size < kChoiceBytes || size > 17000) return 0;
  const bool long_key = (data[0] & 1U) != 0;
  const auto take = (data[0] & 2U) != 0 ? Take12 : Take13;
  std::string record(reinterpret_cast<const char*>(data) + kChoiceBytes, size - kChoiceBytes);
  if ((data[0] & 4U) != 0) {
    record.append(kTagBytes, '\0');
    const auto sealed = take(Start(TlsLibrary(), long_key, true).get(), record);
    if (!sealed) return 0;
    record = *sealed;
    Require(take(Start(nullptr, long_key, false).get(), record).has_value());
    const std::size_t at = (std::size_t{data[1]} << 8U | data[2]) % record.size();
    record[at] = static_cast<char>(record[at] ^ data[3]);
  }
  const auto ours = take(Start(TlsLibrary(), long_key, false).get(), record);
  Require(ours == take(Start(nullptr, long_key, false).get(), record));
  return 0;
}
