#include "apiserver/registry/source_store.h"

#include <string>
#include <utility>

#include "apiserver/meta/errors.h"
#include "apiserver/runtime/convert.h"
#include "apiserver/runtime/settle.h"
#include "base/status_macros.h"
#include "registry/declared_paths.h"
#include "registry/generic_store.h"
#include "registry/source_reader.h"
#include "storage/errors.h"

namespace apiserver::v0::registry {
namespace {

// For writes into the copy after the source has done its part: the end of the request must not keep
// them back.
Context AfterSource() { return Context::Background(); }

// Returns true if both are the same state of an object, or both are null.
bool Same(const runtime::ObjectPtr& a, const runtime::ObjectPtr& b) {
  if (a == nullptr || b == nullptr) return a == b;
  return a->uid() == b->uid() && a->resource_version() == b->resource_version();
}

// Reads are the copy's; a write changes the source, then the copy.
class SourceStorage final : public storage::Interface {
 public:
  explicit SourceStorage(std::shared_ptr<SourceReader> reader) : reader_(std::move(reader)) {}
  ~SourceStorage() override { reader_->Stop(); }

  Result<runtime::ObjectPtr> Create(const Context& ctx, std::string_view key,
                                    const runtime::Object& object,
                                    std::chrono::seconds ttl) override;
  Result<runtime::ObjectPtr> GuaranteedUpdate(const Context& ctx, std::string_view key,
                                              const storage::UpdateOptions& options,
                                              const storage::TryUpdate& try_update) override;
  Result<runtime::ObjectPtr> Delete(const Context& ctx, std::string_view key,
                                    const storage::UpdateOptions& options,
                                    const storage::ValidateDeletion& validate) override;

  Result<runtime::ObjectPtr> Get(const Context& ctx, std::string_view key,
                                 const storage::GetOptions& options) override {
    RETURN_IF_ERROR(reader_->CheckListed());
    return reader_->copy().Get(ctx, key, options);
  }
  void WhenFresh(const Context& ctx, FreshDone done) override {
    reader_->copy().WhenFresh(ctx, std::move(done));
  }
  Result<runtime::List> GetList(const Context& ctx, std::string_view key,
                                const storage::ListOptions& options) override {
    RETURN_IF_ERROR(reader_->CheckListed());
    return reader_->copy().GetList(ctx, key, options);
  }
  Result<std::unique_ptr<watch::Stream>> Watch(const Context& ctx, std::string_view key,
                                               const storage::ListOptions& options) override {
    RETURN_IF_ERROR(reader_->CheckListed());
    return reader_->copy().Watch(ctx, key, options);
  }
  Result<std::size_t> Count(const Context& ctx, std::string_view key) override {
    RETURN_IF_ERROR(reader_->CheckListed());
    return reader_->copy().Count(ctx, key);
  }
  std::optional<storage::Stats> GetStats() const override { return reader_->copy().GetStats(); }
  Result<std::int64_t> CurrentResourceVersion(const Context& ctx) override {
    return reader_->copy().CurrentResourceVersion(ctx);
  }
  Status Ready() const override { return reader_->Ready(); }
  bool AnswersInline() const override { return reader_->copy().AnswersInline(); }
  void Stop() override { reader_->Stop(); }

 private:
  using Hold = SourceReader::Hold;

  // `object` in the form that a source sees.
  Status Prepare(const Context& ctx, runtime::Object& object) const;
  // The same of what is stored.
  Result<runtime::ObjectPtr> Seen(const Context& ctx, const runtime::ObjectPtr& stored) const {
    return runtime::Converted(ctx, stored, reader_->kind().hub_version());
  }
  // The error of a call of the source as clients see it; reads the object again.
  Status Failed(const Context& ctx, const Hold& hold, const std::string& key, const Status& error);
  // Checks the object that the source returned and completes it for storing. `uid`: the uid that it
  // must still have.
  Status CheckAnswer(const std::string& key, runtime::Object& object, std::string_view uid) const;

  Result<runtime::ObjectPtr> CreateHeld(const Context& ctx, const Hold& hold,
                                        const std::string& key,
                                        std::unique_ptr<runtime::Object> object);
  Result<runtime::ObjectPtr> UpdateHeld(const Context& ctx, const Hold& hold,
                                        const std::string& key, const runtime::ObjectPtr& stored,
                                        std::unique_ptr<runtime::Object> object);
  // The object as the copy has it now that the source has done its part. If it could not be
  // written there, it is read again.
  Result<runtime::ObjectPtr> Copied(const std::string& key, Result<runtime::ObjectPtr> written);

  const std::shared_ptr<SourceReader> reader_;
};

Status SourceStorage::Prepare(const Context& ctx, runtime::Object& object) const {
  RETURN_IF_ERROR(runtime::Convert(ctx, object, reader_->kind().hub_version()));
  RETURN_IF_ERROR(runtime::Settle(object));
  object.Erase("metadata", "resourceVersion");
  return {};
}

// Reading again tells the copy what the source has done in spite of its error. Details are added,
// since clients expect them.
Status SourceStorage::Failed(const Context& ctx, const Hold& hold, const std::string& key,
                             const Status& error) {
  if (!reader_->Read(ctx, hold, key).ok()) reader_->Changed(key);
  if (error.details() != nullptr) return error;
  const runtime::GroupResource resource = reader_->kind().group_resource();
  const std::string name = key.substr(key.rfind('/') + 1);
  switch (error.reason()) {
    case Reason::kNotFound:
      return meta::NewNotFound(resource, name);
    case Reason::kAlreadyExists:
      return meta::NewAlreadyExists(resource, name);
    case Reason::kConflict:
      return meta::NewConflict(resource, name, error.message());
    case Reason::kInternalError:
      return meta::NewInternalError(error.message());
    default:
      return error.WithDetails({.name = name, .group = resource.group, .kind = resource.resource});
  }
}

Status SourceStorage::CheckAnswer(const std::string& key, runtime::Object& object,
                                  std::string_view uid) const {
  ASSIGN_OR_RETURN(const std::string actual, reader_->replica().KeyOf(object));
  // A source that changes name, namespace or uid would leave two objects in the copy.
  if (actual != key) return {Reason::kInternalError, "source made " + actual + " of " + key};
  if (object.uid().empty()) return {Reason::kInternalError, "source took the uid of " + key};
  if (!uid.empty() && object.uid() != uid) {
    return {Reason::kInternalError, "source changed the uid of " + key};
  }
  object.Erase("metadata", "resourceVersion");
  return runtime::Settle(object);
}

Result<runtime::ObjectPtr> SourceStorage::Copied(const std::string& key,
                                                 Result<runtime::ObjectPtr> written) {
  if (!written.ok()) reader_->Changed(key);
  return written;
}

Result<runtime::ObjectPtr> SourceStorage::CreateHeld(const Context& ctx, const Hold& hold,
                                                     const std::string& key,
                                                     std::unique_ptr<runtime::Object> object) {
  RETURN_IF_ERROR(Prepare(ctx, *object));
  Status made = CallSource([&] { return reader_->source().Create(ctx, *object); });
  if (made.ok()) made = CheckAnswer(key, *object, "");
  if (!made.ok()) return Failed(ctx, hold, key, made);
  return Copied(key, reader_->copy().Create(AfterSource(), key, *object, std::chrono::seconds(0)));
}

Result<runtime::ObjectPtr> SourceStorage::Create(const Context& ctx, std::string_view key_view,
                                                 const runtime::Object& object,
                                                 std::chrono::seconds /*ttl*/) {
  const std::string key(key_view);
  if (!object.resource_version().empty()) {
    return Status(Reason::kInvalid, "resourceVersion should not be set on objects to be created");
  }
  if (!ctx.may_block()) return Status(Reason::kWouldBlock, "a source may wait");
  RETURN_IF_ERROR(reader_->CheckListed());
  // The key is held until the write ends: writes of one object happen one after the other, in both
  // places.
  ASSIGN_OR_RETURN(const Hold hold, reader_->HoldKey(ctx, key));
  storage::GetOptions get;
  get.ignore_not_found = true;
  ASSIGN_OR_RETURN(const runtime::ObjectPtr taken, reader_->copy().Get(ctx, key, get));
  if (taken != nullptr) return storage::NewKeyExists(key);
  return CreateHeld(ctx, hold, key, object.Clone());
}

Result<runtime::ObjectPtr> SourceStorage::UpdateHeld(const Context& ctx, const Hold& hold,
                                                     const std::string& key,
                                                     const runtime::ObjectPtr& stored,
                                                     std::unique_ptr<runtime::Object> object) {
  RETURN_IF_ERROR(Prepare(ctx, *object));
  ASSIGN_OR_RETURN(const runtime::ObjectPtr old, Seen(ctx, stored));
  const auto unversioned = old->Clone();
  unversioned->Erase("metadata", "resourceVersion");
  // As in etcd3's GuaranteedUpdate, a write without a change calls no source and makes no event.
  if (object->root() == unversioned->root()) return stored;

  Status made = CallSource([&] { return reader_->source().Update(ctx, *old, *object); });
  if (made.ok()) made = CheckAnswer(key, *object, old->uid());
  if (!made.ok()) return Failed(ctx, hold, key, made);
  const auto replace = [&object](const runtime::ObjectPtr&) -> Result<storage::Update> {
    return storage::Update{.object = object->Clone(), .ttl = std::nullopt};
  };
  return Copied(key, reader_->copy().GuaranteedUpdate(AfterSource(), key, {}, replace));
}

// Strategies and admission run without the key held: a webhook may call this server about the same
// object.
Result<runtime::ObjectPtr> SourceStorage::GuaranteedUpdate(const Context& ctx,
                                                           std::string_view key_view,
                                                           const storage::UpdateOptions& options,
                                                           const storage::TryUpdate& try_update) {
  if (!ctx.may_block()) return Status(Reason::kWouldBlock, "a source may wait");
  RETURN_IF_ERROR(reader_->CheckListed());
  const std::string key(key_view);
  storage::GetOptions get;
  get.ignore_not_found = options.ignore_not_found;
  // This loop ends: a further round means that another write of this key has succeeded.
  for (;;) {
    ASSIGN_OR_RETURN(const runtime::ObjectPtr stored, reader_->copy().Get(ctx, key, get));
    RETURN_IF_ERROR(storage::CheckPreconditions(key, options.preconditions, stored.get()));
    ASSIGN_OR_RETURN(storage::Update update, try_update(stored));
    ASSIGN_OR_RETURN(const Hold hold, reader_->HoldKey(ctx, key));
    ASSIGN_OR_RETURN(const runtime::ObjectPtr now, reader_->copy().Get(ctx, key, get));
    if (!Same(stored, now)) continue;
    if (stored == nullptr) return CreateHeld(ctx, hold, key, std::move(update.object));
    return UpdateHeld(ctx, hold, key, stored, std::move(update.object));
  }
}

Result<runtime::ObjectPtr> SourceStorage::Delete(const Context& ctx, std::string_view key_view,
                                                 const storage::UpdateOptions& options,
                                                 const storage::ValidateDeletion& validate) {
  if (!ctx.may_block()) return Status(Reason::kWouldBlock, "a source may wait");
  RETURN_IF_ERROR(reader_->CheckListed());
  const std::string key(key_view);
  for (;;) {
    ASSIGN_OR_RETURN(const runtime::ObjectPtr stored, reader_->copy().Get(ctx, key, {}));
    RETURN_IF_ERROR(storage::CheckPreconditions(key, options.preconditions, stored.get()));
    if (validate) RETURN_IF_ERROR(validate(ctx, *stored));
    ASSIGN_OR_RETURN(const runtime::ObjectPtr old, Seen(ctx, stored));
    ASSIGN_OR_RETURN(const Hold hold, reader_->HoldKey(ctx, key));
    ASSIGN_OR_RETURN(const runtime::ObjectPtr now, reader_->copy().Get(ctx, key, {}));
    if (!Same(stored, now)) continue;
    const Status removed = CallSource([&] { return reader_->source().Delete(ctx, *old); });
    // NotFound is what was wanted: the source may have lost the object already.
    if (!removed.ok() && removed.reason() != Reason::kNotFound) {
      return Failed(ctx, hold, key, removed);
    }
    return Copied(key, reader_->copy().Delete(AfterSource(), key, {}, nullptr));
  }
}

}  // namespace

// Defaults for a source that can only be read.
Status Source::Create(const Context&, runtime::Object& object) {
  return meta::NewMethodNotSupported(object.kind().group_resource(), "create");
}

Status Source::Update(const Context&, const runtime::Object&, runtime::Object& object) {
  return meta::NewMethodNotSupported(object.kind().group_resource(), "update");
}

Status Source::Delete(const Context&, const runtime::Object& old) {
  return meta::NewMethodNotSupported(old.kind().group_resource(), "delete");
}

Result<std::shared_ptr<Store>> NewSourceStore(const StorageConfig& config, SourceOptions options,
                                              std::unique_ptr<Source> source) {
  const auto wrong = [](std::string_view what) {
    return Status(Reason::kInvalid, "registry source store: " + std::string(what));
  };
  if (source == nullptr) return wrong("a source is required");
  if (config.executor == nullptr) return wrong("executor is required");
  if (options.store.kind == nullptr) return wrong("kind is required");
  if (options.store.strategy == nullptr) return wrong("strategy is required");
  if (options.store.ttl) return wrong("ttl must be null");
  if (options.retry_interval.count() <= 0) return wrong("retry_interval must be positive");
  RETURN_IF_ERROR(CheckDeclaredPaths(options.store));
  StoreOptions store = options.store;
  auto reader = std::make_shared<SourceReader>(config, std::move(options), std::move(source));
  auto made = std::make_shared<GenericStore>(
      config, std::move(store), std::make_shared<SourceStorage>(reader), GenericStore::Over::kOwn);
  // Started last: the first reports need the whole store.
  reader->Start();
  return made;
}

}  // namespace apiserver::v0::registry
