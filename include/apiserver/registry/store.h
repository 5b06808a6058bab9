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
#include "apiserver/storage/warm_up.h"

// The generic store: any kind, any strategy, over storage::Interface.
// k8s.io/apiserver/pkg/registry/generic/registry.Store.
namespace apiserver::inline v0::registry {

// Where the objects of a server's resources live; shared by all its stores.
struct StorageConfig {
  // Required; must outlive the stores.
  storage::kv::Engine* engine = nullptr;
  // Required: timers of watch caches. Must outlive the stores.
  Executor* executor = nullptr;
  // Prepended to every key. A resource's keys begin with
  // "<prefix>/<group>/<plural>/", as with Go's RecommendedOptions.
  std::string prefix = "/registry";
  // How the values of a resource are transformed before they are stored; empty, or null for a
  // resource: not at all. See storage::value::Encryption::TransformerFor. Called by NewStore.
  std::function<storage::value::TransformerPtr(const runtime::GroupResource&)> transformer_for =
      nullptr;
  bool watch_cache = true;
  std::size_t delete_collection_workers = 1;
  bool enable_garbage_collection = true;
  const Clock* clock = &RealClock();
  Random* random = &SecureRandom();
  // What the watch caches may keep of the past; null: each has its own limits only.
  std::shared_ptr<MemoryBudget> memory = nullptr;
  // Told how far each watch cache has come in reading its state; see storage::cacher::Options. On
  // any thread; must be quick.
  std::function<void(const storage::WarmUp&)> on_warm_up;
  // What the stores count; null: nothing. GenericAPIServer::metrics() shows it at /metrics.
  std::shared_ptr<metrics::Registry> metrics = nullptr;
  LogSink* log = &NullLogSink();
};

// Functions that a host gives run on the pool, where they may wait, several at a time, and never on
// a loop; see functions_inline.
struct StoreOptions {
  // Required.
  runtime::KindPtr kind;
  // Required.
  std::shared_ptr<const rest::Strategy> strategy;
  // Columns of `kubectl get`; null: the columns of the kind's version, or Name and Created At.
  std::shared_ptr<const rest::TableConvertor> table_convertor = nullptr;
  // Promises that `table_convertor`, `field_value` and the kind's functions are quick and never
  // wait. Then reads and watches may call them on a loop. False: a store that has any of them
  // serves reads and watches on the pool. A kind's converter says for itself whether it may wait;
  // if so the store does that in any case.
  bool functions_inline = false;
  // How long an object lives; absent: for ever. `update`: it exists already. On the thread of the
  // write, before it; may be called again if the write is tried again.
  std::function<std::optional<std::chrono::seconds>(const runtime::Object&, bool update)> ttl =
      nullptr;
  // The value of a field that field selectors may name; null: metadata.name, metadata.namespace
  // and the kind's selectable fields.
  std::function<std::string(const runtime::Object&, std::string_view field)> field_value = nullptr;
  // Run after a write has been stored, before it is answered, on the thread of the write, which may
  // wait; must not fail. Not called for dry runs.
  std::function<void(const runtime::Object&)> after_create = nullptr;
  std::function<void(const runtime::Object&)> after_update = nullptr;
  std::function<void(const runtime::Object&)> after_delete = nullptr;
  // A delete answers with the object instead of a Status.
  bool return_deleted_object = false;
  // Every create, update, patch and apply is validated by the kind's schema
  // (runtime::ValidateSchema), whose errors stand before the strategy's in one answer; a status
  // subresource's by that of the status. false: the strategy alone says what is valid, as for kinds
  // whose markers are there to be shown in OpenAPI only.
  bool validate_schema = true;
};

// Serves one resource: get, list, watch, create, update, patch, delete, deletecollection, with
// generateName, finalizers, graceful deletion, preconditions and dry run.
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
              public rest::GracefulDeleter,
              public rest::CollectionDeleter,
              public rest::MayReturnFullObjectDeleter,
              public rest::InlineReader,
              public rest::StorageWithReadiness,
              public rest::StatsProvider,
              public rest::ResetFieldsProvider {
 public:
  // The resource's objects below everything else; for controllers and tests.
  virtual storage::Interface& storage() = 0;
  // Update() with another strategy: what subresources are made of. `checked` is what the schema
  // validates, if it does at all (StoreOptions::validate_schema).
  virtual Result<rest::UpdateResult> UpdateWith(const rest::Strategy& strategy, const Context& ctx,
                                                std::string_view name,
                                                const rest::UpdateRequest& request,
                                                runtime::SchemaPart checked) = 0;
};

// kInvalid: a required option is missing.
Result<std::shared_ptr<Store>> NewStore(const StorageConfig& config, StoreOptions options);

// The status subresource of `main`: same objects, a strategy of its own; get and update only.
Result<std::shared_ptr<rest::Storage>> NewStatusStore(
    std::shared_ptr<Store> main, std::shared_ptr<const rest::Strategy> strategy);

// Columns Name and Created At, as rest.NewDefaultTableConvertor; or the kind's own columns.
std::shared_ptr<const rest::TableConvertor> NewDefaultTableConvertor();
std::shared_ptr<const rest::TableConvertor> NewColumnTableConvertor(
    std::vector<runtime::PrinterColumn> columns, const Clock& clock);

}  // namespace apiserver::inline v0::registry
