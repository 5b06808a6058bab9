#include <cstddef>
#include <cstdint>
#include <string_view>

#include "require.h"
#include "storage/kms/envelope.h"

// What a KMS plugin answers and what stands behind the prefix of a stored value: read or refused;
// an envelope that is valid is written as it is read.
namespace {

namespace kms = apiserver::storage::kms;
using apiserver_fuzz::Require;

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  kms::StatusResponse status;
  (void)kms::Decode(text, status);
  kms::EncryptResponse encrypted;
  (void)kms::Decode(text, encrypted);
  kms::DecryptResponse decrypted;
  (void)kms::Decode(text, decrypted);
  kms::EncryptedObject object;
  if (!kms::Decode(text, object).ok()) return 0;
  if (!kms::ValidateEncryptedObject(object).ok()) return 0;
  kms::EncryptedObject again;
  Require(kms::Decode(kms::Encode(object), again).ok());
  Require(kms::CacheKeyOf(object) == kms::CacheKeyOf(again));
  Require(object.encrypted_data == again.encrypted_data);
  return 0;
}
