#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "apiserver/base/status.h"

// The messages of KMS v2 and of stored values, with the field numbers of k8s.io/kms/apis/v2 and
// kmsv2/v2/api.proto.
namespace apiserver::inline v0::storage::kms {

using Annotations = std::map<std::string, std::string>;

struct StatusResponse {
  std::string version;
  std::string healthz;
  std::string key_id;
};
struct EncryptRequest {
  std::string plaintext;
  std::string uid;
};
struct EncryptResponse {
  std::string ciphertext;
  std::string key_id;
  Annotations annotations;
};
struct DecryptRequest {
  std::string ciphertext;
  std::string uid;
  std::string key_id;
  Annotations annotations;
};
struct DecryptResponse {
  std::string plaintext;
};

// The kind of plaintext in a DEK source.
enum class SourceType : std::uint8_t {
  kAesGcmKey = 0,
  kSeed = 1,  // For value::NewExtendedNonceGcm.
};

// A stored value behind its prefix.
struct EncryptedObject {
  std::string encrypted_data;
  std::string key_id;
  std::string encrypted_dek_source;
  Annotations annotations;
  std::uint64_t source_type = 0;  // A SourceType, once validated.
};

std::string Encode(const EncryptRequest& message);
std::string Encode(const DecryptRequest& message);
std::string Encode(const EncryptedObject& message);
// Used by the plugins of tests.
std::string Encode(const StatusResponse& message);
std::string Encode(const EncryptResponse& message);
std::string Encode(const DecryptResponse& message);

// Return kInternalError: the bytes are malformed.
Status Decode(std::string_view bytes, StatusResponse& message);
Status Decode(std::string_view bytes, EncryptResponse& message);
Status Decode(std::string_view bytes, DecryptResponse& message);
Status Decode(std::string_view bytes, EncryptedObject& message);
Status Decode(std::string_view bytes, EncryptRequest& message);
Status Decode(std::string_view bytes, DecryptRequest& message);

}  // namespace apiserver::inline v0::storage::kms
