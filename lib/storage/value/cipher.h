#pragma once

#include <openssl/evp.h>

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "apiserver/base/random.h"
#include "apiserver/base/status.h"
#include "storage/value/secret.h"

// AES by OpenSSL, for the providers that use it.
namespace apiserver::inline v0::storage::value {

inline constexpr std::size_t kGcmNonceBytes = 12;
inline constexpr std::size_t kGcmTagBytes = 16;

inline constexpr std::string_view kTooShort = "the stored data was shorter than the required size";

// Returns an error of kInternalError with that message.
Status NewCipherError(std::string_view message);
// Returns kInvalid unless `bytes` is a size of an AES key.
Status CheckAesKey(std::size_t bytes);
// Appends `count` random bytes.
void AppendRandom(Random& random, std::size_t count, std::string& out);

// Appends cipher text and tag.
Status GcmSeal(const Secret& key, std::string_view nonce, std::string_view plain,
               std::string_view authenticated, std::string& out);
// Returns the plain text of `sealed`, which is cipher text and tag.
Result<std::string> GcmOpen(const Secret& key, std::string_view nonce, std::string_view sealed,
                            std::string_view authenticated);

// Encrypts whole blocks, which PKCS#7 has padded already; `iv` has 16 bytes.
Status CbcEncrypt(const Secret& key, std::string_view iv, std::string_view padded,
                  std::string& out);
Result<std::string> CbcDecrypt(const Secret& key, std::string_view iv, std::string_view blocks);

// Returns the first 32 bytes of HKDF-Expand with SHA-256.
std::string HkdfExpand(const Secret& seed, std::string_view info);

}  // namespace apiserver::inline v0::storage::value
