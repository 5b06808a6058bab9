#include "storage/kms/probe.h"

#include <utility>
#include <vector>

#include "apiserver/base/field_path.h"
#include "base/status_macros.h"
#include "storage/kms/errors.h"

namespace apiserver::v0::storage::kms {
namespace {

constexpr std::size_t kSeedBytes = 32;

}  // namespace

void Probe::Start() { Poll(); }

void Probe::Poll() {
  const Status status = Check();
  if (!status.ok()) {
    Log(*options_.log, LogLevel::kWarning, "a KMS plugin failed its health check",
        {{"name", name_}, {"error", std::string(status.message())}});
  }
  // The task is never cancelled: it does nothing once all owners are gone.
  (void)options_.executor->PostAfter(status.ok() ? kHealthyInterval : kUnhealthyInterval,
                                     [weak = weak_from_this()] {
                                       if (const auto self = weak.lock()) self->Poll();
                                     });
}

Status Probe::Check() {
  {
    auto state = state_.Lock();
    // One caller asks at a time; the others use its outcome.
    state.Wait([&] { return !state->busy; });
    if (state->asked && options_.clock->Now() < state->outcome_until) return state->outcome;
    state->busy = true;
  }
  Status outcome = Ask();
  const auto ttl = outcome.ok() ? kHealthyTtl : kUnhealthyTtl;
  {
    auto state = state_.Lock();
    state->busy = false;
    state->asked = true;
    state->outcome = outcome;
    state->outcome_until = options_.clock->Now() + ttl;
  }
  state_.NotifyAll();
  return outcome;
}

Status Probe::Health() {
  Status outcome;
  {
    auto state = state_.Lock();
    outcome = state->outcome;
    // The outcome is due again, but a health check must not wait for the plugin.
    if (state->busy || options_.clock->Now() < state->outcome_until) return outcome;
  }
  options_.executor->Post([weak = weak_from_this()] {
    // The next Health() returns the result.
    if (const auto self = weak.lock()) (void)self->Check();
  });
  return outcome;
}

// Follows isKMSv2ProviderHealthy in k8s.io/apiserver's encryptionconfig.
Status Probe::Ask() {
  const auto response = service_->GetStatus();
  if (!response.ok()) {
    return NewPluginError(
        "failed to perform status section of the healthz check for KMS Provider " + name_ +
        ", error: " + std::string(response.status().message()));
  }
  std::vector<Status> errors;
  if (response->healthz != "ok") {
    errors.push_back(NewPluginError("got unexpected healthz status: " + response->healthz));
  }
  errors.push_back(CheckVersion(response->version));
  const Status key_id = ValidateKeyId(response->key_id);
  errors.push_back(key_id.ok() ? Rotate(response->key_id)
                               : NewPluginError("got invalid KMSv2 KeyID hash " +
                                                field::Quote(HashIfNotEmpty(response->key_id)) +
                                                ": " + std::string(key_id.message())));
  std::string text;
  std::size_t failed = 0;
  for (const Status& error : errors) {
    if (!error.ok()) text.append(failed++ > 0 ? ", " : "").append(error.message());
  }
  if (failed == 0) return {};
  return NewPluginError("kmsv2 Provider " + name_ +
                        " is not healthy, error: " + (failed > 1 ? "[" + text + "]" : text));
}

Status Probe::CheckVersion(const std::string& version) {
  if (version != "v2" && version != "v2beta1") {
    return NewPluginError("expected KMSv2 API version v2, got " + version);
  }
  auto state = state_.Lock();
  // A plugin that is replaced by one of another version needs a restart of the server, as in Go.
  if (state->version.empty()) state->version = version;
  if (state->version == version) return {};
  return NewPluginError(
      "KMSv2 API version should not change after the initial status response version " +
      state->version + ", got " + version);
}

// Follows GenerateTransformer in kmsv2: a seed is made here, and the plugin encrypts it once.
Result<WriteState> Probe::Generate(const std::string& uid) const {
  std::string seed(kSeedBytes, '\0');
  options_.random->Fill(std::as_writable_bytes(std::span(seed)));
  WriteState state;
  ASSIGN_OR_RETURN(state.transformer, value::NewExtendedNonceGcm(seed, *options_.random));
  auto sealed = service_->Encrypt({std::move(seed), uid});
  if (!sealed.ok()) {
    return NewPluginError("failed to encrypt DEK, error: " +
                          std::string(sealed.status().message()));
  }
  state.envelope.key_id = std::move(sealed->key_id);
  state.envelope.encrypted_dek_source = std::move(sealed->ciphertext);
  state.envelope.annotations = std::move(sealed->annotations);
  state.envelope.source_type = static_cast<std::uint64_t>(SourceType::kSeed);
  // Validated as a stored value would be, with a byte of data in place of the value.
  EncryptedObject complete = state.envelope;
  complete.encrypted_data = "x";
  RETURN_IF_ERROR(ValidateEncryptedObject(complete));
  state.cache_key = CacheKeyOf(state.envelope);
  return state;
}

// Follows rotateDEKOnKeyIDChange: a new seed only if the plugin has changed its key.
Status Probe::Rotate(const std::string& key_id) {
  // Taken before the call, so that it is an upper bound.
  const Clock::Monotonic expires = options_.clock->Now() + kWriteTtl;
  const WriteStatePtr now = state_.Lock()->write;
  if (now != nullptr && now->envelope.key_id == key_id) {
    auto extended = std::make_shared<WriteState>(*now);
    extended->expires = expires;
    state_.Lock()->write = std::move(extended);
    return {};
  }
  const std::string uid = NewUuid(*options_.random);
  auto next = Generate(uid);
  if (next.ok() && next->envelope.key_id == key_id) {
    next->expires = expires;
    state_.Lock()->write = std::make_shared<const WriteState>(*std::move(next));
    return {};
  }
  // The old seed stays in use until it expires.
  const auto hash = [](const std::string& id) { return field::Quote(HashIfNotEmpty(id)); };
  std::string text = "failed to rotate DEK uid=" + field::Quote(uid) + ", errGen=";
  text.append(next.ok() ? "<nil>" : next.status().message());
  text.append(", statusKeyIDHash=").append(hash(key_id));
  text.append(", encryptKeyIDHash=").append(hash(next.ok() ? next->envelope.key_id : ""));
  text.append(", stateKeyIDHash=").append(hash(now != nullptr ? now->envelope.key_id : ""));
  return NewPluginError(std::move(text));
}

Result<WriteStatePtr> Probe::Current() const {
  WriteStatePtr write = state_.Lock()->write;
  if (write == nullptr) return NewPluginError("got unexpected nil transformer");
  return write;
}

}  // namespace apiserver::v0::storage::kms
