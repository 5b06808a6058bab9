#include "storage/kms/envelope.h"

#include <openssl/evp.h>

#include <array>

#include "apiserver/base/field_path.h"
#include "apiserver/meta/validation.h"
#include "codec/protobuf_wire.h"
#include "storage/kms/errors.h"
#include "text/hex.h"

namespace apiserver::v0::storage::kms {
namespace {

std::string Sha256(std::string_view text) {
  std::string digest(32, '\0');
  unsigned int length = 0;
  EVP_Digest(text.data(), text.size(), reinterpret_cast<unsigned char*>(digest.data()), &length,
             EVP_sha256(), nullptr);
  return digest;
}

Status ValidateSize(std::size_t bytes, std::size_t bytes_max, const std::string& what) {
  if (bytes == 0) return NewPluginError(what + " is empty");
  if (bytes <= bytes_max) return {};
  return NewPluginError(what + " is " + std::to_string(bytes) +
                        " bytes, which exceeds the max size of " + std::to_string(bytes_max));
}

Status ValidateAnnotations(const Annotations& annotations) {
  std::size_t bytes = 0;
  for (const auto& [key, value] : annotations) {
    bytes += key.size() + value.size();
    const auto wrong = meta::IsFullyQualifiedDomainName(field::Path("annotations"), key);
    if (!wrong.empty()) {
      return NewPluginError("failed to validate annotations: " + wrong.Aggregate());
    }
  }
  if (bytes <= kAnnotationsBytesMax) return {};
  return NewPluginError("failed to validate annotations: total size of annotations is " +
                        std::to_string(bytes) + ", which exceeds the max size of " +
                        std::to_string(kAnnotationsBytesMax));
}

}  // namespace

Status ValidateKeyId(std::string_view key_id) {
  return ValidateSize(key_id.size(), kKeyIdBytesMax, "keyID");
}

// Follows ValidateEncryptedObject in k8s.io/apiserver's kmsv2.
Status ValidateEncryptedObject(const EncryptedObject& object) {
  if (object.source_type > static_cast<std::uint64_t>(SourceType::kSeed)) {
    return NewPluginError("unknown encryptedDEKSourceType: " + std::to_string(object.source_type));
  }
  if (object.encrypted_data.empty()) return NewPluginError("encrypted data is empty");
  const Status source =
      ValidateSize(object.encrypted_dek_source.size(), kDekSourceBytesMax, "encrypted DEK source");
  if (!source.ok()) {
    return NewPluginError("failed to validate encrypted DEK source: " +
                          std::string(source.message()));
  }
  const Status key_id = ValidateKeyId(object.key_id);
  if (!key_id.ok()) {
    return NewPluginError("failed to validate key id: " + std::string(key_id.message()));
  }
  return ValidateAnnotations(object.annotations);
}

std::string HashIfNotEmpty(std::string_view text) {
  if (text.empty()) return "";
  std::string out = "sha256:";
  text::AppendHex(Sha256(text), out);
  return out;
}

std::string CacheKeyOf(const EncryptedObject& object) {
  // The wire form is unambiguous, and its map is sorted.
  EncryptedObject source = object;
  source.encrypted_data.clear();
  return Sha256(Encode(source));
}

}  // namespace apiserver::v0::storage::kms
