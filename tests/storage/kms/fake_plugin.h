#pragma once

#include <algorithm>
#include <string>

#include "apiserver/base/sync.h"
#include "storage/kms/service.h"

namespace apiserver::inline v0::testing {

// A plugin of the simplest kind: what it seals is the text backwards, with the key's name before
// it.
class FakePlugin final : public storage::kms::Service {
 public:
  struct State {
    std::string version = "v2";
    std::string healthz = "ok";
    std::string key_id = "key-1";
    std::string sealed_key_id;  // Empty: key_id. What Encrypt says.
    std::string sealed;         // Empty: see above.
    storage::kms::Annotations annotations;
    Status down;
    int statuses = 0;
    int encrypts = 0;
    int decrypts = 0;
    std::string uid;  // Of the last call that had one.
  };

  Result<storage::kms::StatusResponse> GetStatus() override {
    auto state = state_.Lock();
    ++state->statuses;
    if (!state->down.ok()) return state->down;
    return storage::kms::StatusResponse{state->version, state->healthz, state->key_id};
  }
  Result<storage::kms::EncryptResponse> Encrypt(
      const storage::kms::EncryptRequest& request) override {
    auto state = state_.Lock();
    ++state->encrypts;
    state->uid = request.uid;
    if (!state->down.ok()) return state->down;
    const std::string id = state->sealed_key_id.empty() ? state->key_id : state->sealed_key_id;
    std::string sealed =
        id + "|" + std::string(request.plaintext.rbegin(), request.plaintext.rend());
    if (!state->sealed.empty()) sealed = state->sealed;
    return storage::kms::EncryptResponse{std::move(sealed), id, state->annotations};
  }
  Result<storage::kms::DecryptResponse> Decrypt(
      const storage::kms::DecryptRequest& request) override {
    auto state = state_.Lock();
    ++state->decrypts;
    state->uid = request.uid;
    if (!state->down.ok()) return state->down;
    const std::string mark = request.key_id + "|";
    if (!request.ciphertext.starts_with(mark) || request.annotations != state->annotations) {
      return Status(Reason::kInternalError, "not sealed by this key");
    }
    const std::string text = request.ciphertext.substr(mark.size());
    return storage::kms::DecryptResponse{std::string(text.rbegin(), text.rend())};
  }

  auto Lock() { return state_.Lock(); }

 private:
  Guarded<State> state_;
};

}  // namespace apiserver::inline v0::testing
