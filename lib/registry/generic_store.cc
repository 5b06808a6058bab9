#include "registry/generic_store.h"

#include <algorithm>
#include <utility>

#include "apiserver/base/progress.h"
#include "apiserver/meta/errors.h"
#include "apiserver/meta/validation.h"
#include "apiserver/runtime/convert.h"
#include "apiserver/storage/cacher/cacher.h"
#include "apiserver/storage/store/rewriter.h"
#include "apiserver/storage/store/store.h"
#include "base/status_macros.h"
#include "registry/declared_paths.h"
#include "registry/engine_call_metrics.h"
#include "registry/json_path.h"
#include "registry/storage_stats_metrics.h"
#include "registry/table_convertor.h"
#include "registry/watch_cache_metrics.h"

namespace apiserver::v0::registry {
namespace {

// "/registry/wardle.example.com/flunders".
std::string PrefixFor(const StorageConfig& config, const runtime::Kind& kind) {
  std::string prefix = config.prefix;
  const std::string own =
      config.resource_prefix ? config.resource_prefix({kind.group(), kind.plural()}) : "";
  if (!own.empty()) return prefix.append("/").append(own);
  if (!kind.group().empty()) prefix.append("/").append(kind.group());
  return prefix.append("/").append(kind.plural());
}

// `field` is a path of member names with dots, as in fieldSelector.
std::string FieldOf(const runtime::Object& object, std::string_view field) {
  runtime::Value value = object.root();
  while (!field.empty()) {
    const std::size_t dot = std::min(field.find('.'), field.size());
    value = value[field.substr(0, dot)];
    field.remove_prefix(std::min(dot + 1, field.size()));
  }
  return TextOf(value);
}

// Returns true if reads and watches call functions of the host that may block. Strategies and
// decorators do not count, since they run with writes only, on the pool.
bool CallsHost(const StoreOptions& options) {
  if (options.kind->converter().may_wait()) return true;
  if (options.functions_inline) return false;
  const auto in_code = [](const runtime::KindVersion& version) {
    return version.set_defaults || version.to_hub || version.from_hub;
  };
  const auto& versions = options.kind->versions();
  return options.table_convertor || options.field_value ||
         std::any_of(versions.begin(), versions.end(), in_code);
}

// Returns true if writes call nothing of the host that may block, encrypt nothing and evaluate no
// expressions: what an event loop has no time for.
bool WritesInline(const StorageConfig& config, const StoreOptions& options,
                  const cel::KindRules& rules) {
  const bool told =
      options.after_create || options.after_update || options.after_delete || options.after_write;
  const bool asked = options.ttl || options.refuse_create || options.stays_deleted;
  return options.strategy->RunsInline() && rules.empty() && !told && !asked &&
         !config.transformer_for;
}

// The transformer encrypts below the cache, so that the cache holds plain objects.
storage::store::Options StoredAs(const StorageConfig& config, const runtime::KindPtr& kind) {
  storage::store::Options store;
  store.engine = config.engine;
  store.kind = kind;
  store.prefix = PrefixFor(config, *kind);
  store.clock = config.clock;
  if (config.transformer_for) {
    store.transformer = config.transformer_for({kind->group(), kind->plural()});
  }
  return store;
}

// Lets the config's rewriter, if there is one, look at the values of `storage`.
Context::Registration LetRewrite(const StorageConfig& config, const runtime::KindPtr& kind,
                                 storage::Interface& storage) {
  if (config.rewriter == nullptr) return {};
  return Context::Registration(
      [rewriter = config.rewriter,
       added = config.rewriter->Add(StoredAs(config, kind), storage)]() mutable { added.Reset(); });
}

}  // namespace

std::unique_ptr<storage::Interface> NewStorage(const StorageConfig& config,
                                               const runtime::KindPtr& kind,
                                               std::shared_ptr<storage::Interface> predecessor) {
  storage::store::Options store = StoredAs(config, kind);
  if (config.metrics != nullptr) {
    store.calls = CountEngineCalls(config.metrics, {kind->group(), kind->plural()});
  }
  if (!config.watch_cache) return storage::store::New(std::move(store));
  storage::cacher::Options cache;
  cache.store = std::move(store);
  cache.executor = config.executor;
  cache.memory = config.memory;
  cache.progress =
      config.progress != nullptr ? config.progress : NewProgressLog({.log = config.log});
  cache.predecessor = std::move(predecessor);
  if (config.metrics != nullptr) {
    CountWatchCache(config.metrics, {kind->group(), kind->plural()}, cache);
  }
  cache.log = config.log;
  return storage::cacher::New(std::move(cache));
}

GenericStore::GenericStore(StorageConfig config, StoreOptions options,
                           std::shared_ptr<storage::Interface> storage, Over over)
    : config_(std::move(config)),
      options_(std::move(options)),
      rules_(options_.kind),
      calls_host_(CallsHost(options_)),
      writes_inline_(registry::WritesInline(config_, options_, rules_)),
      tables_(TablesOf(*options_.kind, config_)),
      storage_(std::move(storage)),
      over_(over) {
  if (over_ == Over::kShared) return;
  rewritten_ = LetRewrite(config_, options_.kind, *storage_);
  if (config_.metrics == nullptr) return;
  stats_shown_ = ShowStorageStats(config_.metrics,
                                  {options_.kind->group(), options_.kind->plural()}, *storage_);
}

std::unique_ptr<runtime::Object> GenericStore::New() const {
  return std::make_unique<runtime::Object>(options_.kind, options_.kind->hub_version());
}

runtime::GroupVersionKind GenericStore::StorageVersion() const {
  return options_.kind->gvk(options_.kind->storage_version());
}

// Follows NamespaceKeyFunc and NoNamespaceKeyFunc of registry/store.go. Names are checked since
// they become parts of keys.
Result<std::string> GenericStore::KeyFor(const Context& ctx, std::string_view name) const {
  std::string key;
  if (NamespaceScoped()) {
    const std::string_view space = rest::NamespaceOf(ctx);
    if (space.empty()) return meta::NewBadRequest("Namespace parameter required.");
    key.reserve(space.size() + name.size() + 2);
    key.append("/").append(space);
  }
  key.push_back('/');
  if (name.empty()) return meta::NewBadRequest("Name parameter required.");
  const meta::Complaints complaints = meta::IsPathSegmentName(name);
  if (!complaints.empty()) {
    std::string text = "Name parameter invalid: " + field::Quote(name) + ": ";
    for (std::size_t i = 0; i < complaints.size(); ++i) {
      text.append(i > 0 ? ";" : "").append(complaints[i]);
    }
    return meta::NewBadRequest(std::move(text));
  }
  return key.append(name);
}

// A selector for one namespace or one name becomes a shorter key: the same answer from fewer
// objects.
GenericStore::Selection GenericStore::Select(const Context& ctx,
                                             const meta::ListOptions& options) const {
  Selection selection;
  selection.predicate.label = options.label_selector;
  selection.predicate.field = options.field_selector;
  selection.predicate.field_value = options_.field_value ? options_.field_value : FieldOf;
  selection.predicate.version = options_.kind->hub_version();

  std::string space(NamespaceScoped() ? rest::NamespaceOf(ctx) : "");
  const bool narrow = options.continue_token.empty();
  if (NamespaceScoped() && space.empty() && narrow) {
    const auto exact = options.field_selector.RequiresExact("metadata.namespace");
    if (exact && meta::IsDNS1123Label(*exact).empty()) space = *exact;
  }
  selection.key = space.empty() ? "/" : "/" + space + "/";
  if (!narrow || (NamespaceScoped() && space.empty())) return selection;
  const auto name = options.field_selector.RequiresExact("metadata.name");
  if (name && !name->empty() && meta::IsPathSegmentName(*name).empty()) {
    selection.key += *name;
    selection.recursive = false;
  }
  return selection;
}

Result<runtime::ObjectPtr> GenericStore::ForRules(const Context& ctx,
                                                  const runtime::ObjectPtr& object) const {
  return runtime::Converted(ctx, object, options_.kind->hub_version());
}

Status GenericStore::Tell(const Context& ctx, const Hook& hook,
                          const runtime::ObjectPtr& stored) const {
  if (options_.after_write) options_.after_write();
  if (!hook) return {};
  ASSIGN_OR_RETURN(const runtime::ObjectPtr seen, ForRules(ctx, stored));
  hook(*seen);
  return {};
}

namespace {

Status Missing(std::string_view what) {
  return {Reason::kInvalid, "registry store: " + std::string(what) + " is required"};
}

Status CheckConfig(const StorageConfig& config) {
  if (config.engine == nullptr) return Missing("engine");
  if (config.watch_cache && config.executor == nullptr) return Missing("executor");
  return {};
}

Status CheckOptions(const StoreOptions& options) {
  if (options.kind == nullptr) return Missing("kind");
  if (options.strategy == nullptr) return Missing("strategy");
  return {};
}

// A storage with the metrics of its resource, which several stores would show several times.
class SharedStorage {
 public:
  SharedStorage(const StorageConfig& config, const runtime::KindPtr& kind,
                std::shared_ptr<storage::Interface> predecessor)
      : storage_(NewStorage(config, kind, std::move(predecessor))) {
    rewritten_ = LetRewrite(config, kind, *storage_);
    if (config.metrics == nullptr) return;
    shown_ = ShowStorageStats(config.metrics, {kind->group(), kind->plural()}, *storage_);
  }
  SharedStorage(const SharedStorage&) = delete;
  SharedStorage& operator=(const SharedStorage&) = delete;
  ~SharedStorage() {
    rewritten_.Reset();
    storage_->Stop();
  }

  storage::Interface& storage() { return *storage_; }

 private:
  const std::unique_ptr<storage::Interface> storage_;
  Context::Registration shown_;
  Context::Registration rewritten_;
};

}  // namespace

Result<std::shared_ptr<Store>> NewStore(const StorageConfig& config, StoreOptions options) {
  RETURN_IF_ERROR(CheckConfig(config));
  RETURN_IF_ERROR(CheckOptions(options));
  RETURN_IF_ERROR(CheckDeclaredPaths(options));
  auto storage = NewStorage(config, options.kind);
  return std::make_shared<GenericStore>(config, std::move(options), std::move(storage),
                                        GenericStore::Over::kOwn);
}

Result<std::shared_ptr<storage::Interface>> OpenStorage(
    const StorageConfig& config, const runtime::KindPtr& kind,
    std::shared_ptr<storage::Interface> predecessor) {
  RETURN_IF_ERROR(CheckConfig(config));
  if (kind == nullptr) return Missing("kind");
  const auto shared = std::make_shared<SharedStorage>(config, kind, std::move(predecessor));
  return std::shared_ptr<storage::Interface>(shared, &shared->storage());
}

Result<std::shared_ptr<Store>> NewStoreOver(std::shared_ptr<storage::Interface> storage,
                                            const StorageConfig& config, StoreOptions options) {
  if (storage == nullptr) return Missing("storage");
  RETURN_IF_ERROR(CheckConfig(config));
  RETURN_IF_ERROR(CheckOptions(options));
  return std::make_shared<GenericStore>(config, std::move(options), std::move(storage),
                                        GenericStore::Over::kShared);
}

}  // namespace apiserver::v0::registry
