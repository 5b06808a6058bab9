#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/base/field_path.h"
#include "apiserver/base/status.h"

// The contents of the --encryption-provider-config file: EncryptionConfiguration of
// apiserver.config.k8s.io/v1.
namespace apiserver::inline v0::storage::value {

// A named key of a local provider.
struct Key {
  std::string name;
  std::string secret;  // Base64, as in the file.
};

// A provider whose key encryption key is held by a KMS plugin.
struct KmsConfiguration {
  std::string api_version = "v1";  // "v1" or "v2".
  std::string name;
  std::optional<std::int64_t> cache_size;  // Only v1 has it. Absent: the default.
  std::string endpoint;                    // "unix:///run/kms.sock".
  // The timeout of one call to the plugin.
  std::chrono::nanoseconds timeout = std::chrono::seconds(3);
};

// One provider. In a valid configuration exactly one member is set.
struct ProviderConfiguration {
  std::optional<std::vector<Key>> aesgcm;
  std::optional<std::vector<Key>> aescbc;
  std::optional<std::vector<Key>> secretbox;
  bool identity = false;
  std::optional<KmsConfiguration> kms;
};

// The providers for some resources, in order: the first one writes, all of them read.
struct ResourceConfiguration {
  // "secrets", "flunders.wardle.example.com", "*.wardle.example.com", "*." (the legacy group),
  // "*.*".
  std::vector<std::string> resources;
  std::vector<ProviderConfiguration> providers;
};

// The content of a configuration file, in its order.
struct EncryptionConfiguration {
  std::vector<ResourceConfiguration> resources;
};

// Parses YAML or JSON strictly. kInvalid: malformed, another kind, unknown or repeated fields, a
// field of another type. Messages never quote a secret.
Result<EncryptionConfiguration> ParseEncryptionConfiguration(std::string_view text);

// Validates as validation.ValidateEncryptionConfiguration of k8s.io/apiserver does. `reload`: the
// file will be read again when it changes.
field::ErrorList ValidateEncryptionConfiguration(const EncryptionConfiguration& config,
                                                 bool reload);

}  // namespace apiserver::inline v0::storage::value
