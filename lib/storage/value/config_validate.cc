#include <algorithm>
#include <array>
#include <cctype>
#include <span>
#include <utility>

#include "apiserver/codec/json.h"
#include "apiserver/storage/value/config.h"
#include "storage/value/resource_name.h"
#include "text/base64.h"

namespace apiserver::v0::storage::value {
namespace {

using field::ErrorList;
using field::Path;
using runtime::GroupResource;

constexpr std::array<std::size_t, 3> kAesKeySizes = {16, 24, 32};
constexpr std::array<std::size_t, 1> kSecretboxKeySizes = {32};
constexpr std::string_view kRedacted = "REDACTED";

std::string AtLeastOne(std::string_view what) {
  return "at least one " + std::string(what) + " is required";
}
std::string Mandatory(std::string_view field, std::string_view owner) {
  return std::string(field) + " is a mandatory field for a " + std::string(owner);
}

std::string AsJson(const std::vector<std::string>& texts) {
  std::string json = "[";
  for (const std::string& text : texts) {
    if (json.size() > 1) json += ',';
    codec::AppendJsonString(text, json);
  }
  return json + "]";
}

// True if an object of one may belong to the other too.
bool Overlap(const GroupResource& a, const GroupResource& b) {
  const GroupResource all{"*", "*"};
  // Go looks at each pair twice: a wildcard that is listed twice is reported as both.
  if (a == b) return a.resource == "*";
  if (a == all || b == all) return true;
  return a.group == b.group && (a.resource == "*" || b.resource == "*");
}

void ValidateOverlap(const std::vector<std::string>& resources, const Path& path,
                     ErrorList& errors) {
  bool duplicate = false;
  bool overlap = false;
  for (std::size_t i = 0; i < resources.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const GroupResource a = ParseGroupResource(resources[j]);
      const GroupResource b = ParseGroupResource(resources[i]);
      duplicate = duplicate || a == b;
      overlap = overlap || Overlap(a, b);
    }
  }
  if (duplicate) {
    errors.InvalidPrinted(path, AsJson(resources),
                          "the same resource cannot be specified multiple times");
  }
  if (overlap) {
    errors.InvalidPrinted(path, AsJson(resources),
                          "using overlapping resources such as 'secrets' and '*.' in the same "
                          "resource list is not allowed as they will be masked");
  }
}

// Returns the problem of a resource's name. Empty: none.
std::string_view ProblemOf(std::string_view name) {
  if (std::any_of(name.begin(), name.end(), [](char c) { return c >= 'A' && c <= 'Z'; })) {
    return "resource name should not contain capital letters";
  }
  if (name == "*") {
    return "use '*.' to encrypt all the resources from core API group or *.* to encrypt all "
           "resources";
  }
  if (name == "apiserveripinfo" || name == "serviceipallocations" ||
      name == "servicenodeportallocations") {
    return "resources which do not have REST API/s cannot be encrypted";
  }
  const GroupResource resource = ParseGroupResource(name);
  if (resource.group == "events.k8s.io") {
    return "'*.events.k8s.io' objects are stored using the 'events' API group in etcd. Use "
           "'events' instead in the config file";
  }
  if (resource.group == "extensions") {
    return "'extensions' group has been removed and cannot be used for encryption";
  }
  if (resource.group == "*" && resource.resource != "*") {
    return "encrypting the same resource across groups is not supported";
  }
  return "";
}

void ValidateKey(const Key& key, const Path& path, std::span<const std::size_t> sizes,
                 ErrorList& errors) {
  if (key.name.empty()) errors.Required(path.Child("name"), Mandatory("name", "key"));
  const Path secret_path = path.Child("secret");
  if (key.secret.empty()) {
    errors.Required(secret_path, Mandatory("secret", "key"));
    return;
  }
  const auto secret = text::DecodeBase64(key.secret);
  if (!secret) {
    errors.Invalid(secret_path, kRedacted, "secrets must be base64 encoded");
    return;
  }
  if (std::find(sizes.begin(), sizes.end(), secret->size()) != sizes.end()) return;
  std::string expected;
  for (const std::size_t size : sizes) {
    expected.append(expected.empty() ? "" : " ").append(std::to_string(size));
  }
  errors.Invalid(secret_path, kRedacted,
                 "secret is not of the expected length, got " + std::to_string(secret->size()) +
                     ", expected one of [" + expected + "]");
}

void ValidateKeys(const std::vector<Key>& keys, const Path& path,
                  std::span<const std::size_t> sizes, ErrorList& errors) {
  if (keys.empty()) errors.Required(path, AtLeastOne("keys"));
  for (std::size_t i = 0; i < keys.size(); ++i) {
    ValidateKey(keys[i], path.Index(i), sizes, errors);
  }
}

// Returns the text before "://" or ':'. Empty: a URL without scheme.
std::string_view SchemeOf(std::string_view url) {
  const std::size_t colon = url.find(':');
  if (colon == std::string_view::npos) return "";
  const std::string_view scheme = url.substr(0, colon);
  return scheme.find('/') == std::string_view::npos ? scheme : "";
}

void ValidateEndpoint(const std::string& endpoint, const Path& path, ErrorList& errors) {
  if (endpoint.empty()) {
    errors.Invalid(path, "", Mandatory("endpoint", "kms"));
    return;
  }
  const std::string_view scheme = SchemeOf(endpoint);
  if (scheme == "unix") return;
  errors.Invalid(
      path, endpoint,
      "unsupported scheme " + field::Quote(scheme) + " for KMS provider, only unix is supported");
}

// The names of the KMS providers before this one.
using Names = std::vector<std::string>;

void ValidateKmsName(const KmsConfiguration& kms, const Path& path, const Names& names, bool reload,
                     ErrorList& errors) {
  if (kms.name.empty()) errors.Required(path, Mandatory("name", "provider"));
  const bool v1 = kms.api_version == "v1";
  // The name stands in every stored value's prefix and ends there at the next ':'. Go refuses a ':'
  // for v2 only.
  if (!v1 && kms.name.find(':') != std::string::npos) {
    errors.Invalid(path, kms.name,
                   "invalid KMS provider name " + kms.name + ", must not contain ':'");
  }
  if ((reload || !v1) && std::find(names.begin(), names.end(), kms.name) != names.end()) {
    errors.Invalid(path, kms.name,
                   "duplicate KMS provider name " + kms.name + ", names must be unique");
  }
}

void ValidateKms(const KmsConfiguration& kms, const Path& path, ErrorList& errors) {
  const bool v1 = kms.api_version == "v1";
  if (kms.timeout.count() <= 0) {
    // Go prints a metav1.Duration as its text; only values that are not positive come here.
    errors.InvalidPrinted(path.Child("timeout"),
                          kms.timeout.count() == 0 ? "\"0s\"" : "\"a negative duration\"",
                          "timeout should be a positive value");
  }
  ValidateEndpoint(kms.endpoint, path.Child("endpoint"), errors);
  if (!v1 && kms.cache_size) {
    errors.InvalidPrinted(path.Child("cachesize"), std::to_string(*kms.cache_size),
                          "cachesize is not supported in v2");
  }
  if (v1 && kms.cache_size == 0) {
    errors.InvalidPrinted(path.Child("cachesize"), "0",
                          "cachesize should be a positive value, or negative to disable");
  }
  if (!v1 && kms.api_version != "v2") {
    errors.Invalid(path.Child("apiVersion"), kms.api_version,
                   "unsupported apiVersion apiVersion for KMS provider, only v1 and v2 are "
                   "supported");
  }
}

void ValidateOneProvider(const ProviderConfiguration& provider, const Path& path,
                         ErrorList& errors) {
  const int found =
      static_cast<int>(provider.kms.has_value()) + static_cast<int>(provider.aesgcm.has_value()) +
      static_cast<int>(provider.aescbc.has_value()) +
      static_cast<int>(provider.secretbox.has_value()) + static_cast<int>(provider.identity);
  if (found == 0) {
    errors.InvalidPrinted(
        path, R"({"AESGCM":null,"AESCBC":null,"Secretbox":null,"Identity":null,"KMS":null})",
        "provider does not contain any of the expected providers: KMS, AESGCM, AESCBC, Secretbox, "
        "Identity");
  }
  if (found > 1) {
    // Go prints the whole provider, keys included; a log must not have those.
    errors.Invalid(path, kRedacted,
                   "more than one provider specified in a single element, should split into "
                   "different list elements");
  }
}

void ValidateProvider(const ProviderConfiguration& provider, const Path& path, Names& names,
                      bool reload, ErrorList& errors) {
  ValidateOneProvider(provider, path, errors);
  if (provider.kms) {
    ValidateKmsName(*provider.kms, path.Child("kms").Child("name"), names, reload, errors);
    ValidateKms(*provider.kms, path.Child("kms"), errors);
    names.push_back(provider.kms->name);
  } else if (provider.aesgcm) {
    ValidateKeys(*provider.aesgcm, path.Child("aesgcm").Child("keys"), kAesKeySizes, errors);
  } else if (provider.aescbc) {
    ValidateKeys(*provider.aescbc, path.Child("aescbc").Child("keys"), kAesKeySizes, errors);
  } else if (provider.secretbox) {
    ValidateKeys(*provider.secretbox, path.Child("secretbox").Child("keys"), kSecretboxKeySizes,
                 errors);
  }
}

}  // namespace

ErrorList ValidateEncryptionConfiguration(const EncryptionConfiguration& config, bool reload) {
  const Path root("resources");
  ErrorList errors;
  if (config.resources.empty()) errors.Required(root, AtLeastOne(root.text()));
  Names names;
  for (std::size_t i = 0; i < config.resources.size(); ++i) {
    const ResourceConfiguration& entry = config.resources[i];
    const Path resources = root.Index(i).Child("resources");
    const Path providers = root.Index(i).Child("providers");
    if (entry.resources.empty()) errors.Required(resources, AtLeastOne(resources.text()));
    ValidateOverlap(entry.resources, resources, errors);
    for (std::size_t j = 0; j < entry.resources.size(); ++j) {
      const std::string_view problem = ProblemOf(entry.resources[j]);
      if (problem.empty()) continue;
      errors.Invalid(resources.Index(j), entry.resources[j], std::string(problem));
    }
    if (entry.providers.empty()) errors.Required(providers, AtLeastOne(providers.text()));
    for (std::size_t j = 0; j < entry.providers.size(); ++j) {
      ValidateProvider(entry.providers[j], providers.Index(j), names, reload, errors);
    }
  }
  return errors;
}

}  // namespace apiserver::v0::storage::value
