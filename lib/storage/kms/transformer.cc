#include "storage/kms/transformer.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "apiserver/base/field_path.h"
#include "base/status_macros.h"
#include "storage/kms/errors.h"

namespace apiserver::v0::storage::kms {
namespace {

// A cache of transformers by their DEK source. An expired one serves until it is removed: it cannot
// be wrong.
class DecryptCache {
 public:
  static constexpr std::chrono::hours kTtl{24};
  static constexpr std::chrono::minutes kSweepInterval{1};
  // Limits the entries; beyond it the one that expires next is removed.
  static constexpr std::size_t kEntriesMax = 10'000;

  explicit DecryptCache(const Clock& clock) : clock_(clock) {}

  // Returns null if it is unknown.
  value::TransformerPtr Find(const std::string& key) const {
    auto state = state_.Lock();
    const auto found = state->entries.find(key);
    return found == state->entries.end() ? nullptr : found->second.transformer;
  }

  void Set(const std::string& key, value::TransformerPtr transformer) {
    const Clock::Monotonic now = clock_.Now();
    auto state = state_.Lock();
    state->entries[key] = {std::move(transformer), now + kTtl};
    if (now < state->sweep_at && state->entries.size() <= kEntriesMax) return;
    state->sweep_at = now + kSweepInterval;
    std::erase_if(state->entries, [now](const auto& entry) { return entry.second.expires < now; });
    if (state->entries.size() <= kEntriesMax) return;
    state->entries.erase(std::min_element(
        state->entries.begin(), state->entries.end(),
        [](const auto& a, const auto& b) { return a.second.expires < b.second.expires; }));
  }

 private:
  struct Entry {
    value::TransformerPtr transformer;
    Clock::Monotonic expires;
  };
  struct State {
    std::unordered_map<std::string, Entry> entries;
    Clock::Monotonic sweep_at;
  };
  const Clock& clock_;
  mutable Guarded<State> state_;
};

class EnvelopeTransformer final : public value::Transformer {
 public:
  EnvelopeTransformer(std::shared_ptr<Service> service, std::shared_ptr<const Probe> probe,
                      const Options& options)
      : service_(std::move(service)),
        probe_(std::move(probe)),
        options_(options),
        cache_(*options.clock) {}

  Result<value::FromStorage> TransformFromStorage(
      std::string_view data, std::string_view authenticated_data) const override {
    EncryptedObject object;
    RETURN_IF_ERROR(Decode(data, object));
    RETURN_IF_ERROR(ValidateEncryptedObject(object));
    ASSIGN_OR_RETURN(const WriteStatePtr write, probe_->Current());
    ASSIGN_OR_RETURN(const value::TransformerPtr transformer, TransformerFor(object));
    ASSIGN_OR_RETURN(value::FromStorage read,
                     transformer->TransformFromStorage(object.encrypted_data, authenticated_data));
    // A value under an older key is stale: the next update rewrites it under the present one.
    read.stale = object.key_id != write->envelope.key_id ||
                 object.source_type != write->envelope.source_type;
    return read;
  }

  Result<std::string> TransformToStorage(std::string_view data,
                                         std::string_view authenticated_data) const override {
    ASSIGN_OR_RETURN(const WriteStatePtr write, probe_->Current());
    if (options_.clock->Now() > write->expires) {
      return NewPluginError("encryptedDEKSource with keyID hash " +
                            field::Quote(HashIfNotEmpty(write->envelope.key_id)) +
                            " expired: the KMS plugin has not been healthy for 3 minutes");
    }
    // Cached, so that values written now are read without the plugin.
    cache_.Set(write->cache_key, write->transformer);
    EncryptedObject object = write->envelope;
    ASSIGN_OR_RETURN(object.encrypted_data,
                     write->transformer->TransformToStorage(data, authenticated_data));
    return Encode(object);
  }

 private:
  Result<value::TransformerPtr> TransformerFor(const EncryptedObject& object) const {
    const std::string key = CacheKeyOf(object);
    if (value::TransformerPtr known = cache_.Find(key)) return known;
    // No lock is held: other reads go on while the plugin decrypts.
    const auto source = service_->Decrypt({object.encrypted_dek_source, NewUuid(*options_.random),
                                           object.key_id, object.annotations});
    if (!source.ok()) {
      return NewPluginError("failed to decrypt DEK, error: " +
                            std::string(source.status().message()));
    }
    const bool seed = object.source_type == static_cast<std::uint64_t>(SourceType::kSeed);
    auto made = seed ? value::NewExtendedNonceGcm(source->plaintext, *options_.random)
                     : value::NewAesGcm(source->plaintext, *options_.random);
    if (!made.ok()) return NewPluginError(std::string(made.status().message()));
    cache_.Set(key, *made);
    return made;
  }

  const std::shared_ptr<Service> service_;
  const std::shared_ptr<const Probe> probe_;
  const Options options_;
  mutable DecryptCache cache_;
};

}  // namespace

value::TransformerPtr NewEnvelopeTransformer(std::shared_ptr<Service> service,
                                             std::shared_ptr<const Probe> probe,
                                             const Options& options) {
  return std::make_shared<EnvelopeTransformer>(std::move(service), std::move(probe), options);
}

value::KmsProvider NewProvider(const std::string& name, std::shared_ptr<Service> service,
                               const Options& options) {
  const auto probe = std::make_shared<Probe>(name, service, options);
  probe->Start();
  return {NewEnvelopeTransformer(std::move(service), probe, options),
          [probe] { return probe->Check(); }, [probe] { return probe->Health(); }};
}

value::NewKmsProvider NewProviders(Options options) {
  return [options](const value::KmsConfiguration& config) -> Result<value::KmsProvider> {
    if (options.executor == nullptr) return Status(Reason::kInvalid, "kms: executor is required");
    ASSIGN_OR_RETURN(auto service, NewGrpcService(config.endpoint, config.timeout));
    return NewProvider(config.name, std::move(service), options);
  };
}

}  // namespace apiserver::v0::storage::kms
