#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/base/field_path.h"
#include "apiserver/base/status.h"

// The file of --encryption-provider-config: EncryptionConfiguration of
// apiserver.config.k8s.io/v1.
namespace apiserver::inline v0::storage::value {

struct Key {
  std::string name;
  std::string secret;  // Base64, as written.
};

struct KmsConfiguration {
  std::string api_version = "v1";  // "v1" or "v2".
  std::string name;
  std::optional<std::int64_t> cache_size;  // Of v1 only.
  std::string endpoint;                    // "unix:///run/kms.sock".
  // Of one call.
  std::chrono::nanoseconds timeout = std::chrono::seconds(3);
};

// Exactly one is set in a valid configuration.
struct ProviderConfiguration {
  std::optional<std::vector<Key>> aesgcm;
  std::optional<std::vector<Key>> aescbc;
  std::optional<std::vector<Key>> secretbox;
  bool identity = false;
  std::optional<KmsConfiguration> kms;
};

struct ResourceConfiguration {
  // "secrets", "flunders.wardle.example.com", "*.wardle.example.com", "*." (the legacy group),
  // "*.*".
  std::vector<std::string> resources;
  std::vector<ProviderConfiguration> providers;
};

struct EncryptionConfiguration {
  std::vector<ResourceConfiguration> resources;
};

// YAML or JSON, decoded strictly. kInvalid: malformed, another kind, unknown or repeated fields,
// a field of another type. Messages never quote a secret.
Result<EncryptionConfiguration> ParseEncryptionConfiguration(std::string_view text);

// As validation.ValidateEncryptionConfiguration of k8s.io/apiserver. `reload`: the file will be
// read again when it changes.
field::ErrorList ValidateEncryptionConfiguration(const EncryptionConfiguration& config,
                                                 bool reload);

}  // namespace apiserver::inline v0::storage::value
