#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "apiserver/base/clock.h"
#include "apiserver/base/executor.h"
#include "apiserver/base/log.h"
#include "apiserver/base/memory_budget.h"
#include "apiserver/base/metrics.h"
#include "apiserver/base/random.h"
#include "apiserver/rest/storage.h"
#include "apiserver/rest/strategy.h"
#include "apiserver/runtime/names.h"
#include "apiserver/runtime/validate.h"
#include "apiserver/storage/interface.h"
#include "apiserver/storage/kv/engine.h"
#include "apiserver/storage/value/transformer.h"

namespace apiserver::inline v0 {
class ProgressSink;
}  // namespace apiserver::inline v0
namespace apiserver::inline v0::storage::store {
class Rewriter;
}  // namespace apiserver::inline v0::storage::store

// The generic store of any kind with any strategy, over storage::Interface.
// k8s.io/apiserver/pkg/registry/generic/registry.Store.
namespace apiserver::inline v0::registry {

// The storage of a server's resources; shared by all its stores.
struct StorageConfig {
  // Required. The key-value store. Must outlive the stores.
  storage::kv::Engine* engine = nullptr;
  // Required. Runs the timers of watch caches. Must outlive the stores.
  Executor* executor = nullptr;
  // The prefix of every key. A resource's keys begin with "<prefix>/<group>/<plural>/", as with
  // Go's RecommendedOptions.
  std::string prefix = "/registry";
  // Returns what the keys of a resource have instead of "<group>/<plural>", without slashes at its
  // ends: a kube-apiserver keeps services below "services/specs". Null, or it returns "": nothing
  // is replaced. RESTOptions.ResourcePrefix of k8s.io/apiserver. Called inside NewStore, on its
  // thread; must not block.
  std::function<std::string(const runtime::GroupResource&)> resource_prefix = nullptr;
  // Returns the transformer that a resource's values pass before they are stored. Empty, or it
  // returns null: values are stored untransformed. See storage::value::Encryption::TransformerFor.
  // Called inside NewStore, on its thread; may block.
  std::function<storage::value::TransformerPtr(const runtime::GroupResource&)> transformer_for =
      nullptr;
  // Each store lets it look at its values, until the store is destroyed: what is stored with an
  // older key is written with the present one (storage/store/rewriter.h). Shared, as it belongs to
  // all stores. Null: what is stored is left as it is.
  std::shared_ptr<storage::store::Rewriter> rewriter = nullptr;
  bool watch_cache = true;
  std::size_t delete_collection_workers = 1;
  bool enable_garbage_collection = true;
  const Clock* clock = &RealClock();
  // The source of uids and generated names. Those that create much save a system call for each with
  // NewBufferedRandom.
  Random* random = &SecureRandom();
  // The memory budget for the watch caches' history. Null: only each cache's own limits apply.
  std::shared_ptr<MemoryBudget> memory = nullptr;
  // Receives the progress of the watch caches in reading their state; see storage::cacher::Options.
  // Shared, as it is with the server's other jobs. Null: it is written to `log`.
  std::shared_ptr<ProgressSink> progress = nullptr;
  // The registry of the stores' metrics. GenericAPIServer::metrics() serves them at /metrics. Null:
  // nothing is counted.
  std::shared_ptr<metrics::Registry> metrics = nullptr;
  LogSink* log = &NullLogSink();
};

// The options of a generic store. The host's functions run on pool threads, where they may block,
// several at a time; never on an event loop unless functions_inline is set.
struct StoreOptions {
  // Required. The kind of the objects.
  runtime::KindPtr kind;
  // Required. The kind's rules for writes.
  std::shared_ptr<const rest::Strategy> strategy;
  // The columns of `kubectl get`. Null: the columns of the kind's version, or Name and Created At.
  std::shared_ptr<const rest::TableConvertor> table_convertor = nullptr;
  // Promises that `table_convertor`, `field_value` and the kind's functions never block. Reads and
  // watches may then call them on an event loop. False: a store that has any of them serves reads
  // and watches on the pool. A kind's converter has its own VersionConverter::may_wait(); if that
  // is true, the store always uses the pool.
  bool functions_inline = false;
  // Returns the lifetime of an object; nullopt: it does not expire. `update`: the object exists
  // already. Called on the thread of the write, before the write, and again for each retry. Null:
  // objects do not expire.
  std::function<std::optional<std::chrono::seconds>(const runtime::Object&, bool update)> ttl =
      nullptr;
  // Returns the value of a field that field selectors may name. Null: metadata.name,
  // metadata.namespace and the kind's selectable fields.
  std::function<std::string(const runtime::Object&, std::string_view field)> field_value = nullptr;
  // Refuses creates, also those by update and apply, by returning an error. Called with the object
  // after admission and before validation, on the thread of the write; may block. Null: none is
  // refused.
  std::function<Status(const Context&, const runtime::Object&)> refuse_create = nullptr;
  // Prepares an object for its deletion: called by the first delete of each object, with its
  // deletionTimestamp set, instead of what marks an object with finalizers. It may add finalizers,
  // and the object is deleted when the last of them goes. Preconditions are refused in the words of
  // upstream's resources that do this. Called on the thread of the delete, and again for each
  // retry; may block. Null: objects are marked as Kubernetes' usual ones are.
  std::function<void(runtime::Object&, const meta::DeleteOptions&)> mark_deleted = nullptr;
  // Returns true while an object that is being deleted must stay although it has no finalizers. The
  // first delete then only marks an object, for a second one, or an update, to remove. Called on
  // the thread of the write; must not block. Null: finalizers alone keep an object.
  std::function<bool(const runtime::Object&)> stays_deleted = nullptr;
  // Called after a write has been stored and before the response, on the thread of the write; may
  // block, must not fail. Not called for dry runs. Null: nothing is called.
  std::function<void(const runtime::Object&)> after_create = nullptr;
  std::function<void(const runtime::Object&)> after_update = nullptr;
  std::function<void(const runtime::Object&)> after_delete = nullptr;
  // Called like those three after each of the writes, and before them. It does not get the object,
  // so nothing is parsed for it: for a host that follows its objects by a watch. Null: nothing is
  // called.
  std::function<void()> after_write = nullptr;
  // Makes a delete respond with the object instead of a Status.
  bool return_deleted_object = false;
  // False: collections cannot be deleted, and discovery does not list that verb.
  bool delete_collection = true;
  // Validates every create, update, patch and apply by the kind's schema (runtime::ValidateSchema),
  // and those of a status subresource by the schema of the status; then, if the object has the
  // schema's shape, by the schema's rules in CEL (cel::KindRules). The response lists the schema's
  // errors before the strategy's, and warns of broken rules about values that an update leaves as
  // they were. False: only the strategy validates, as for kinds whose
  // constraints are only published in OpenAPI.
  bool validate_schema = true;
};

// Serves one resource: get, list, watch, create, update, patch, delete, deletecollection, with
// generateName, finalizers, graceful deletion, preconditions and dry run. Threads and blocking are
// those of the interfaces: writes on a thread that may block, reads on a loop if AnswersInline().
class Store : public rest::Storage,
              public rest::Scoper,
              public rest::SingularNameProvider,
              public rest::ShortNamesProvider,
              public rest::CategoriesProvider,
              public rest::StorageVersionProvider,
              public rest::Getter,
              public rest::Lister,
              public rest::Watcher,
              public rest::Creater,
              public rest::AsyncCreater,
              public rest::Updater,
              public rest::AsyncUpdater,
              public rest::InlineWriter,
              public rest::GracefulDeleter,
              public rest::CollectionDeleter,
              public rest::MayReturnFullObjectDeleter,
              public rest::InlineReader,
              public rest::StorageWithReadiness,
              public rest::StatsProvider,
              public rest::ResetFieldsProvider {
 public:
  // The storage below the store, without validation and hooks; for controllers and tests.
  virtual storage::Interface& storage() = 0;
  // Updates with another strategy; subresources are implemented with it. `checked` is the part that
  // the schema validates if StoreOptions::validate_schema is set.
  virtual Result<rest::UpdateResult> UpdateWith(const rest::Strategy& strategy, const Context& ctx,
                                                std::string_view name,
                                                const rest::UpdateRequest& request,
                                                runtime::SchemaPart checked) = 0;

  // The default keeps writes on the pool: a store in front of another one may do more than that.
  bool WritesInline() const override { return false; }

  // The defaults block the calling thread in Update() and UpdateWith(), so that a store which
  // changes those, in front of another one, changes all updates.
  void UpdateAsync(const Context& ctx, std::string_view name, const rest::UpdateRequest& request,
                   UpdateDone done) override;
  // The arguments of UpdateWith() that say how to update.
  struct UpdateRules {
    const rest::Strategy& strategy;
    runtime::SchemaPart checked;
  };
  // Does what UpdateWith() does in the way of UpdateAsync(). The strategy must live as long as what
  // `request` refers to.
  virtual void UpdateWithAsync(const UpdateRules& rules, const Context& ctx, std::string_view name,
                               const rest::UpdateRequest& request, UpdateDone done);
};

// Makes a store. kInvalid: a required option is missing, or the path of a column or of a selectable
// field leads to nothing that the kind's schema has.
Result<std::shared_ptr<Store>> NewStore(const StorageConfig& config, StoreOptions options);

// Opens the storage of the resource of `kind`, for several stores over the same objects: one watch
// cache, which reads the stored objects before this returns if the engine is in this process.
// Objects are stored in the kind's storage version. Destroying the result, which may block, ends
// its watches. `predecessor`: an open storage of the same objects under another kind, whose state
// the cache takes over from memory; null: the state is read. kInvalid: a required part of `config`
// is missing.
Result<std::shared_ptr<storage::Interface>> OpenStorage(
    const StorageConfig& config, const runtime::KindPtr& kind,
    std::shared_ptr<storage::Interface> predecessor = nullptr);
// Makes a store over an open storage, for one of several versions of a resource: its kind has the
// names, versions and storage version of the storage's kind, and a hub version of its own, in which
// its strategy, validation, admission and field ownership work. Store::Destroy() leaves the storage
// open. Columns and selectable fields may lead to nothing. kInvalid: a required option is missing.
Result<std::shared_ptr<Store>> NewStoreOver(std::shared_ptr<storage::Interface> storage,
                                            const StorageConfig& config, StoreOptions options);

// Makes the status subresource of `main`, for the same objects with its own strategy. It serves get
// and update only.
Result<std::shared_ptr<rest::Storage>> NewStatusStore(
    std::shared_ptr<Store> main, std::shared_ptr<const rest::Strategy> strategy);

// Return convertors with the columns Name and Created At, as rest.NewDefaultTableConvertor, or with
// the given columns. `clock` must outlive the convertor.
std::shared_ptr<const rest::TableConvertor> NewDefaultTableConvertor();
std::shared_ptr<const rest::TableConvertor> NewColumnTableConvertor(
    std::vector<runtime::PrinterColumn> columns, const Clock& clock);

}  // namespace apiserver::inline v0::registry
