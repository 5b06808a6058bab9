#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apiserver/cel/kind_rules.h"
#include "apiserver/registry/store.h"
#include "apiserver/rest/schema_check.h"
#include "registry/errors.h"

namespace apiserver::inline v0::registry {

// The storage that NewStore() puts below a store: a watch cache over an engine, or the engine
// alone. `predecessor`: as cacher::Options has it; may be null.
std::unique_ptr<storage::Interface> NewStorage(
    const StorageConfig& config, const runtime::KindPtr& kind,
    std::shared_ptr<storage::Interface> predecessor = nullptr);

// A file per verb: create.cc, get.cc, list.cc, update.cc, delete.cc, delete_collection.cc,
// watch.cc.
class GenericStore final : public Store {
 public:
  // Whether the storage ends with the store, or is that of other stores too.
  enum class Over : std::uint8_t { kOwn, kShared };
  GenericStore(StorageConfig config, StoreOptions options,
               std::shared_ptr<storage::Interface> storage, Over over);
  ~GenericStore() override { End(); }

  std::unique_ptr<runtime::Object> New() const override;
  void Destroy() override { End(); }
  bool NamespaceScoped() const override { return options_.strategy->NamespaceScoped(); }
  std::string GetSingularName() const override { return options_.kind->singular(); }
  std::vector<std::string> ShortNames() const override { return options_.kind->short_names(); }
  std::vector<std::string> Categories() const override { return options_.kind->categories(); }
  runtime::GroupVersionKind StorageVersion() const override;
  bool AnswersInline() const override { return !calls_host_ && storage_->AnswersInline(); }
  void WhenFresh(const Context& ctx, FreshDone done) override;
  // Such an object is in memory, and nothing on its way is a host's that may block.
  bool WritesInline() const override { return writes_inline_ && AnswersInline(); }
  bool DeleteReturnsDeletedObject() const override { return options_.return_deleted_object; }
  Status ReadinessCheck() const override { return storage_->Ready(); }
  std::optional<storage::Stats> GetStats() const override { return storage_->GetStats(); }
  rest::ResetFields GetResetFields() const override { return options_.strategy->GetResetFields(); }
  storage::Interface& storage() override { return *storage_; }

  Result<runtime::ObjectPtr> Get(const Context& ctx, std::string_view name,
                                 const meta::GetOptions& options) override;
  Result<runtime::List> List(const Context& ctx, const meta::ListOptions& options) override;
  Result<meta::Table> ConvertToTable(const Context& ctx,
                                     const std::vector<runtime::ObjectPtr>& items,
                                     const meta::TableOptions& options) const override;
  Result<std::unique_ptr<watch::Stream>> Watch(const Context& ctx, const meta::ListOptions& options,
                                               Clock::Monotonic deadline) override;
  Result<runtime::ObjectPtr> Create(const Context& ctx, std::unique_ptr<runtime::Object> object,
                                    const rest::ValidateObject& validate,
                                    const meta::CreateOptions& options) override;
  void CreateAsync(const Context& ctx, std::unique_ptr<runtime::Object> object,
                   const rest::ValidateObject& validate, const meta::CreateOptions& options,
                   Done done) override;
  Result<rest::UpdateResult> Update(const Context& ctx, std::string_view name,
                                    const rest::UpdateRequest& request) override {
    return UpdateWith(*options_.strategy, ctx, name, request, runtime::SchemaPart::kObject);
  }
  Result<rest::UpdateResult> UpdateWith(const rest::Strategy& strategy, const Context& ctx,
                                        std::string_view name, const rest::UpdateRequest& request,
                                        runtime::SchemaPart checked) override;
  void UpdateAsync(const Context& ctx, std::string_view name, const rest::UpdateRequest& request,
                   UpdateDone done) override {
    UpdateWithAsync({*options_.strategy, runtime::SchemaPart::kObject}, ctx, name, request,
                    std::move(done));
  }
  void UpdateWithAsync(const UpdateRules& rules, const Context& ctx, std::string_view name,
                       const rest::UpdateRequest& request, UpdateDone done) override;
  Result<rest::DeleteResult> Delete(const Context& ctx, std::string_view name,
                                    const rest::ValidateObject& validate,
                                    const meta::DeleteOptions& options) override;
  Result<runtime::List> DeleteCollection(const Context& ctx, const rest::ValidateObject& validate,
                                         const meta::DeleteOptions& options,
                                         const meta::ListOptions& list_options) override;
  bool DeletesCollections() const override { return options_.delete_collection; }

 private:
  void End() {
    rewritten_.Reset();
    if (over_ == Over::kOwn) storage_->Stop();
  }
  // "/namespace/name" or "/name". kBadRequest: no namespace, no name, or one that no path can have.
  Result<std::string> KeyFor(const Context& ctx, std::string_view name) const;
  // The keys and the predicate of a list or watch.
  struct Selection {
    std::string key;
    bool recursive = true;
    storage::SelectionPredicate predicate;
  };
  Selection Select(const Context& ctx, const meta::ListOptions& options) const;
  Status Interpret(const Status& error, Verb verb, std::string_view name) const {
    return InterpretError(error, verb, options_.kind->group_resource(), name);
  }

  // Returns the checks of an object of which a request may change `part`.
  rest::SchemaCheck Checked(runtime::SchemaPart part) const {
    if (!options_.validate_schema) return {.part = runtime::SchemaPart::kNone};
    return {.part = part, .rules = &rules_};
  }

  // The object in the version that strategies, admission and hooks see. Errors as
  // runtime::Convert.
  Result<runtime::ObjectPtr> ForRules(const Context& ctx, const runtime::ObjectPtr& object) const;
  // Calls the host's after_write, and `hook` with the stored object; either may be null.
  using Hook = std::function<void(const runtime::Object&)>;
  Status Tell(const Context& ctx, const Hook& hook, const runtime::ObjectPtr& stored) const;

  // All that comes before the write; returns the key.
  Result<std::string> PrepareCreate(const Context& ctx, runtime::Object& object,
                                    const rest::ValidateObject& validate) const;
  Result<runtime::ObjectPtr> CreateOnce(const Context& ctx, runtime::Object& object,
                                        const rest::ValidateObject& validate, bool dry_run);
  Status InterpretCreateError(const Context& ctx, const Status& error, std::string_view key,
                              const runtime::Object& object);

  struct UpdateCall;
  struct AsyncUpdate;
  UpdateCall CallOf(const UpdateRules& rules, const Context& ctx, std::string_view name,
                    const rest::UpdateRequest& request) const;
  static storage::UpdateOptions OptionsOf(const UpdateCall& call);
  storage::TryUpdate TryOf(UpdateCall& call) const;
  Result<storage::Update> TryUpdate(UpdateCall& call, const runtime::ObjectPtr& stored) const;
  Result<storage::Update> TryCreate(UpdateCall& call) const;
  Status CheckVersion(const UpdateCall& call, runtime::Object& object,
                      const runtime::Object& existing) const;
  Result<rest::UpdateResult> FinishUpdate(UpdateCall& call, const std::string& key,
                                          Result<runtime::ObjectPtr> stored);
  // The write behind an update: real, or a rehearsal.
  Result<runtime::ObjectPtr> Write(const Context& ctx, const std::string& key,
                                   const storage::UpdateOptions& options,
                                   const storage::TryUpdate& try_update, bool dry_run);

  // True if the host's mark_deleted is to be called for a delete of `object`.
  bool MarksItself(const runtime::Object& object) const {
    return options_.mark_deleted != nullptr && !object.deleting();
  }
  // True if an object that is being deleted must stay for another reason than finalizers.
  bool Stays(const runtime::Object& object) const {
    return options_.stays_deleted != nullptr && options_.stays_deleted(object);
  }
  bool ShouldDeleteDuringUpdate(const runtime::Object& object,
                                const runtime::Object& existing) const;
  struct DeleteCall;
  struct Marked;
  Result<Marked> MarkForDeletion(DeleteCall& call, const runtime::ObjectPtr& first);
  Result<storage::Update> TryMark(DeleteCall& call, const runtime::ObjectPtr& stored) const;
  Result<runtime::ObjectPtr> Remove(const Context& ctx, const std::string& key,
                                    const storage::UpdateOptions& options,
                                    const rest::ValidateObject& validate, bool dry_run);
  // Calls `validate` with the object as rules see it.
  Status ValidateStored(const Context& ctx, const rest::ValidateObject& validate,
                        const runtime::Object& stored) const;
  Result<rest::DeleteResult> FinishDelete(const DeleteCall& call, const runtime::ObjectPtr& object,
                                          bool run_hooks, bool immediately) const;
  // The finalizers that the garbage collector is to serve; nullopt: as they are.
  std::optional<std::vector<std::string>> GarbageCollectionFinalizers(
      const Context& ctx, const runtime::Object& object, const meta::DeleteOptions& options) const;
  Status DeleteAll(const Context& ctx, const std::vector<runtime::ObjectPtr>& items,
                   const rest::ValidateObject& validate, const meta::DeleteOptions& options);

  const StorageConfig config_;
  const StoreOptions options_;
  const cel::KindRules rules_;
  const bool calls_host_;     // Reads and watches run functions that may wait.
  const bool writes_inline_;  // Writes run none, and are short.
  // The convertors for the kind's own columns, by version.
  const std::map<std::string, std::shared_ptr<const rest::TableConvertor>> tables_;
  const std::shared_ptr<storage::Interface> storage_;
  const Over over_;
  Context::Registration stats_shown_;
  Context::Registration rewritten_;
};

}  // namespace apiserver::inline v0::registry
