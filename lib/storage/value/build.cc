#include "storage/value/build.h"

#include <utility>

#include "base/status_macros.h"
#include "storage/value/resource_name.h"
#include "text/base64.h"

namespace apiserver::v0::storage::value {
namespace {

using runtime::GroupResource;

using NewWithKey = Result<TransformerPtr> (*)(std::string_view key, Random& random);

const GroupResource& Everything() {
  static const GroupResource everything{"*", "*"};
  return everything;
}

// Makes one provider with its keys; `name` is the one in errors, such as "AES".
Result<Prefixed> NewKeyed(std::string prefix, const std::vector<Key>& keys, NewWithKey make,
                          std::string_view name, Random& random) {
  std::vector<Prefixed> transformers;
  for (const Key& key : keys) {
    const auto secret = text::DecodeBase64(key.secret);
    if (!secret)
      return Status(Reason::kInvalid, "could not obtain secret for named key " + key.name);
    ASSIGN_OR_RETURN(TransformerPtr transformer, make(*secret, random));
    transformers.push_back({key.name + ":", std::move(transformer)});
  }
  std::string no_match = "no matching key was found for the provided ";
  no_match.append(name).append(" transformer");
  return Prefixed{std::move(prefix),
                  NewPrefixTransformers(std::move(no_match), std::move(transformers))};
}

Result<Prefixed> NewKms(const KmsConfiguration& config, const EncryptionOptions& options,
                        Transformers& out) {
  // Go keeps v1 behind a feature gate that is off by default; there is no code for it here.
  if (config.api_version == "v1") {
    return Status(Reason::kInvalid, "KMS provider " + field::Quote(config.name) +
                                        ": KMSv1 is deprecated and not supported. Use KMSv2 "
                                        "instead: apiVersion: v2");
  }
  if (!options.new_kms_provider) {
    return Status(Reason::kInvalid, "could not configure KMSv2-Plugin " +
                                        field::Quote(config.name) +
                                        ": this server is built without KMS providers");
  }
  auto provider = options.new_kms_provider(config);
  if (!provider.ok()) {
    return Status(Reason::kInvalid, "could not configure KMSv2-Plugin's probe " +
                                        field::Quote(config.name) +
                                        ", error: " + std::string(provider.status().message()));
  }
  out.kms.push_back(*provider);
  return Prefixed{"k8s:enc:kms:v2:" + config.name + ":", std::move(provider->transformer)};
}

// The prefixes are those of encryptionconfig in k8s.io/apiserver: stored values begin with them.
Result<Prefixed> NewProvider(const ProviderConfiguration& config, const EncryptionOptions& options,
                             Transformers& out) {
  Random& random = *options.random;
  if (config.aesgcm)
    return NewKeyed("k8s:enc:aesgcm:v1:", *config.aesgcm, NewAesGcm, "AES", random);
  if (config.aescbc)
    return NewKeyed("k8s:enc:aescbc:v1:", *config.aescbc, NewAesCbc, "AES", random);
  if (config.secretbox) {
    return NewKeyed("k8s:enc:secretbox:v1:", *config.secretbox, NewSecretbox, "Secretbox", random);
  }
  if (config.kms) return NewKms(*config.kms, options, out);
  return Prefixed{"", NewIdentity()};
}

// Prints a resource as the configuration names it: "*." for all of the legacy group.
std::string Print(const GroupResource& resource) {
  return resource.group.empty() && resource.resource == "*" ? "*." : resource.ToString();
}

// The transformers of each GroupResource::ToString().
using Lists = std::map<std::string, std::vector<Prefixed>>;

Status CheckNotMasked(const GroupResource& resource, const Lists& earlier) {
  // The earlier entry should win, but For() prefers the narrower name: as in Go, a file in which
  // the two disagree is refused.
  for (const GroupResource& wide : {GroupResource{resource.group, "*"}, Everything()}) {
    if (earlier.count(wide.ToString()) == 0) continue;
    return Status(Reason::kInvalid, "resource " + field::Quote(Print(resource)) +
                                        " is masked by earlier rule " + field::Quote(Print(wide)));
  }
  return {};
}

template <class How>
Status Ask(const std::vector<KmsProvider>& providers, How how) {
  std::string text;
  std::size_t failed = 0;
  for (std::size_t i = 0; i < providers.size(); ++i) {
    // All failures are collected, so that the health check names every plugin that is down.
    const Status status = how(providers[i]);
    if (status.ok()) continue;
    text.append(failed++ > 0 ? ", " : "").append("kms-provider-").append(std::to_string(i));
    text.append(": ").append(status.message());
  }
  if (failed == 0) return {};
  return Status(Reason::kInternalError, failed > 1 ? "[" + text + "]" : text);
}

Status AddEntry(const ResourceConfiguration& entry, const EncryptionOptions& options, Lists& lists,
                Transformers& out) {
  std::vector<Prefixed> providers;
  for (const ProviderConfiguration& provider : entry.providers) {
    ASSIGN_OR_RETURN(Prefixed made, NewProvider(provider, options, out));
    providers.push_back(std::move(made));
  }
  for (const std::string& name : entry.resources) {
    const GroupResource resource = ParseGroupResource(name);
    RETURN_IF_ERROR(CheckNotMasked(resource, lists));
    auto& list = lists[resource.ToString()];
    list.insert(list.end(), providers.begin(), providers.end());
  }
  return {};
}

}  // namespace

// A narrower name goes before a wider one.
TransformerPtr Transformers::Find(const GroupResource& resource) const {
  for (const GroupResource& name : {resource, GroupResource{resource.group, "*"}, Everything()}) {
    const auto found = by_resource.find(name.ToString());
    if (found != by_resource.end()) return found->second;
  }
  return nullptr;
}

TransformerPtr Transformers::For(const GroupResource& resource) const {
  TransformerPtr found = Find(resource);
  return found != nullptr ? std::move(found) : NewIdentity();
}

Status Transformers::Check() const {
  return Ask(kms, [](const KmsProvider& provider) { return provider.check(); });
}

Status Transformers::Health() const {
  return Ask(kms, [](const KmsProvider& provider) { return provider.health(); });
}

Result<Transformers> Build(const EncryptionConfiguration& config,
                           const EncryptionOptions& options) {
  Transformers out;
  Lists lists;
  for (const ResourceConfiguration& entry : config.resources) {
    RETURN_IF_ERROR(AddEntry(entry, options, lists, out));
  }
  for (auto& [resource, list] : lists) {
    out.by_resource[resource] = NewPrefixTransformers("no matching prefix found", std::move(list));
  }
  return out;
}

}  // namespace apiserver::v0::storage::value
