#include "apiserver/storage/value/encryption.h"

#include <utility>

#include "apiserver/base/reload.h"
#include "apiserver/base/sync.h"
#include "base/status_macros.h"
#include "storage/value/build.h"

namespace apiserver::v0::storage::value {
namespace {

using runtime::GroupResource;

using TransformersPtr = std::shared_ptr<const Transformers>;

// The configuration in force and the one that waits for its plugins; shared by the Encryption and
// its transformers.
class Current : public std::enable_shared_from_this<Current> {
 public:
  explicit Current(const EncryptionOptions& options) : options_(options) {}

  TransformersPtr Get() const { return state_.Lock()->now; }
  void Set(TransformersPtr next) {
    TransformersPtr waited;
    // The old one is destroyed after the lock is released: it may have threads to stop.
    auto state = state_.Lock();
    std::swap(state->now, next);
    std::swap(state->next, waited);
  }
  // Sets `next` once its plugins are healthy, unless something newer comes first. A plugin may come
  // up after the server, but not replace one that works before it does.
  Status Offer(TransformersPtr next) {
    std::swap(state_.Lock()->next, next);
    return Try();
  }
  Status Try() {
    const TransformersPtr next = state_.Lock()->next;
    if (next == nullptr) return {};
    const Status healthy = next->Check();
    if (!healthy.ok()) {
      TryLater();
      return Status(Reason::kServiceUnavailable,
                    "health check for new transformers failed: " + std::string(healthy.message()));
    }
    TransformersPtr old = next;
    {
      auto state = state_.Lock();
      if (state->next != next) return {};
      std::swap(state->now, old);
      state->next = nullptr;
    }
    Log(*options_.log, LogLevel::kInfo, "a changed encryption configuration is in use",
        {{"file", options_.path}});
    if (options_.on_change) options_.on_change();
    return {};
  }

 private:
  void TryLater() {
    // The task is never cancelled: it does nothing once all owners are gone.
    (void)options_.executor->PostAfter(options_.period, [weak = weak_from_this()] {
      const auto self = weak.lock();
      if (self != nullptr) (void)self->Try();  // The first failure has been logged.
    });
  }

  struct State {
    TransformersPtr now;
    TransformersPtr next;  // Null: no configuration waits.
  };
  const EncryptionOptions options_;
  Guarded<State> state_;
};

// The transformer of one resource under the configuration in force at each call.
class Reloaded final : public Transformer {
 public:
  Reloaded(std::shared_ptr<const Current> current, GroupResource resource)
      : current_(std::move(current)), resource_(std::move(resource)) {}

  Result<FromStorage> TransformFromStorage(std::string_view data,
                                           std::string_view authenticated_data) const override {
    return current_->Get()->For(resource_)->TransformFromStorage(data, authenticated_data);
  }
  Result<std::string> TransformToStorage(std::string_view data,
                                         std::string_view authenticated_data) const override {
    return current_->Get()->For(resource_)->TransformToStorage(data, authenticated_data);
  }

 private:
  const std::shared_ptr<const Current> current_;
  const GroupResource resource_;
};

Result<TransformersPtr> Load(std::string_view text, const EncryptionOptions& options) {
  if (text.empty()) {
    return Status(Reason::kInvalid,
                  "error while parsing file: error while loading file: "
                  "encryption provider configuration file " +
                      field::Quote(options.path) + " is empty");
  }
  const auto config = ParseEncryptionConfiguration(text);
  if (!config.ok()) {
    return Status(Reason::kInvalid,
                  "error while parsing file: error decoding encryption provider configuration "
                  "file " +
                      field::Quote(options.path) + ": " + std::string(config.status().message()));
  }
  const field::ErrorList errors = ValidateEncryptionConfiguration(*config, options.reload);
  if (!errors.empty()) {
    return Status(Reason::kInvalid, "error while parsing file: " + errors.Aggregate());
  }
  auto built = Build(*config, options);
  if (!built.ok()) {
    return Status(Reason::kInvalid,
                  "error while building transformers: " + std::string(built.status().message()));
  }
  return std::make_shared<const Transformers>(*std::move(built));
}

class EncryptionImpl final : public Encryption {
 public:
  explicit EncryptionImpl(EncryptionOptions options)
      : options_(std::move(options)), current_(std::make_shared<Current>(options_)) {}

  Status Start() {
    // The transformers never change without reloading, so TransformerFor() gives them out directly.
    if (!options_.reload) {
      ASSIGN_OR_RETURN(const std::string text, options_.files->Read(options_.path));
      return Use(text, true);
    }
    const WatchedFilesDeps deps{*options_.files, *options_.executor, *options_.clock,
                                *options_.log};
    ASSIGN_OR_RETURN(watch_, WatchFiles({options_.path}, options_.period, deps,
                                        [this](const std::vector<std::string>& contents) {
                                          return Use(contents.front(), !used_before_);
                                        }));
    return {};
  }

  TransformerPtr TransformerFor(const GroupResource& resource) const override {
    if (!options_.reload) return current_->Get()->For(resource);
    return std::make_shared<Reloaded>(current_, resource);
  }
  std::function<bool(const GroupResource&)> Naming() const override {
    return [current = current_](const GroupResource& resource) {
      return current->Get()->Find(resource) != nullptr;
    };
  }
  Status Check() const override { return current_->Get()->Check(); }
  Status Health() const override { return current_->Get()->Health(); }
  bool uses_kms() const override { return !current_->Get()->kms.empty(); }
  Status CheckFile() override {
    if (watch_ == nullptr) return {};
    RETURN_IF_ERROR(watch_->Check());
    return current_->Try();
  }

 private:
  Status Use(std::string_view text, bool first) {
    ASSIGN_OR_RETURN(TransformersPtr next, Load(text, options_));
    if (!first) return current_->Offer(std::move(next));
    used_before_ = true;
    current_->Set(std::move(next));
    return {};
  }

  const EncryptionOptions options_;
  const std::shared_ptr<Current> current_;
  bool used_before_ = false;  // Read and set by one Use() at a time.
  // Last, so that it stops before the members that its calls use are destroyed.
  std::unique_ptr<WatchedFiles> watch_;
};

}  // namespace

Result<std::unique_ptr<Encryption>> LoadEncryption(EncryptionOptions options) {
  if (options.path.empty()) return Status(Reason::kInvalid, "encryption: path is required");
  if (options.reload && options.executor == nullptr) {
    return Status(Reason::kInvalid, "encryption: executor is required to reload");
  }
  auto encryption = std::make_unique<EncryptionImpl>(std::move(options));
  RETURN_IF_ERROR(encryption->Start());
  return encryption;
}

}  // namespace apiserver::v0::storage::value
