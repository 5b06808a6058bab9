#include "apiserver/testing/storage/rest_conformance_catch2.h"

#include <map>

#include "apiserver/registry/polling_store.h"
#include "apiserver/registry/source_store.h"
#include "conformance/hosts.h"
#include "registry/fixture.h"

// The library's own rest::Storages before the cases that judge a host's.
using namespace apiserver;  // NOLINT: a test.
namespace kit = apiserver::testing::storage;

namespace {

// Enough to resume from, few enough to be driven out by a case.
constexpr std::size_t kEventsKept = 500;

// In the order of their lives; the storage is destroyed first.
struct Parts {
  ~Parts() {
    storage.reset();
    if (pool) pool->Stop();
    if (engine) engine->Stop();
  }
  std::unique_ptr<ThreadPool> pool = NewThreadPool({"rest", 2});
  std::unique_ptr<storage::kv::Engine> engine;
  std::shared_ptr<rest::Storage> storage;
  runtime::KindPtr kind = testing::NewWidgetKind();
  std::shared_ptr<testing::WidgetStrategy> strategy = std::make_shared<testing::WidgetStrategy>();
  Context ctx = Context::Background();

  registry::StorageConfig Config() {
    registry::StorageConfig config;
    config.engine = engine.get();
    config.executor = pool.get();
    return config;
  }
};

Status WaitReady(const rest::StorageWithReadiness& storage) {
  const auto deadline = RealClock().Now() + std::chrono::seconds(30);
  Status ready = storage.ReadinessCheck();
  for (; !ready.ok() && RealClock().Now() < deadline; ready = storage.ReadinessCheck()) {
    (void)Notification().WaitFor(std::chrono::milliseconds(1));
  }
  return ready;
}

void Spoil(runtime::Object& object) { object.Edit("spec", "size") = -1; }

kit::RestHost StoreHost(const testing::EngineOpen& open, bool cache) {
  kit::RestHost host;
  host.spoil = Spoil;
  if (!cache) host.lacks = {"bookmarks"};
  host.open = [open, cache]() -> Result<kit::RestOpened> {
    auto parts = std::make_shared<Parts>();
    auto engine = open(RealClock());
    if (!engine.ok()) return engine.status();
    parts->engine = std::move(*engine);
    registry::StorageConfig config = parts->Config();
    config.watch_cache = cache;
    const auto store =
        registry::NewStore(config, {.kind = parts->kind, .strategy = parts->strategy});
    if (!store.ok()) return store.status();
    parts->storage = *store;
    if (Status ready = WaitReady(**store); !ready.ok()) return ready;
    kit::RestOpened opened;
    opened.storage = *store;
    opened.forget = [parts = parts.get()](std::string_view rv) {
      return parts->engine->Compact(parts->ctx, std::stoll(std::string(rv)));
    };
    opened.keep = std::move(parts);
    return opened;
  };
  return host;
}

// Objects outside of every storage, by "namespace/name".
using Things = Guarded<std::map<std::string, std::unique_ptr<runtime::Object>>>;

std::string KeyOf(std::string_view space, std::string_view name) {
  return std::string(space) + "/" + std::string(name);
}

// Drives what was before out of a history that keeps kEventsKept.
Status Churn(const kit::RestOpened& opened,
             const std::function<std::unique_ptr<runtime::Object>(int)>& make) {
  for (std::size_t i = 0; i < 2 * kEventsKept; ++i) {
    if (Status put = opened.put(make(static_cast<int>(i))); !put.ok()) return put;
  }
  return opened.remove("zz", "churn");
}

std::function<Status(std::string_view)> Forgetting(kit::RestOpened& opened,
                                                   const runtime::KindPtr& kind) {
  // Copies what it needs: `opened` moves.
  kit::RestOpened ways;
  ways.put = opened.put;
  ways.remove = opened.remove;
  return [ways, kind](std::string_view) {
    return Churn(ways, [kind](int i) {
      auto object = testing::NewWidget(kind, "churn", "zz");
      object->Edit("spec", "size") = i;
      return object;
    });
  };
}

kit::RestHost PollingHost() {
  kit::RestHost host;
  host.lacks = {"create", "update", "delete", "deletecollection", "validation", "finalizers"};
  host.open = []() -> Result<kit::RestOpened> {
    auto parts = std::make_shared<Parts>();
    auto things = std::make_shared<Things>();
    registry::PollingOptions options;
    options.kind = parts->kind;
    options.executor = parts->pool.get();
    options.interval = std::chrono::milliseconds(0);
    options.history_events_max = kEventsKept;
    options.history_window = std::chrono::seconds(0);
    options.poll = [things](const Context&) -> Result<registry::PollingOptions::Objects> {
      registry::PollingOptions::Objects objects;
      auto locked = things->Lock();
      for (const auto& [key, thing] : *locked) objects.push_back(thing->Clone());
      return objects;
    };
    auto store = registry::NewPollingStore(std::move(options));
    if (!store.ok()) return store.status();
    parts->storage = *store;
    if (Status polled = (*store)->Poll(parts->ctx); !polled.ok()) return polled;
    kit::RestOpened opened;
    opened.storage = *store;
    const auto poll = [store = store->get()] { return store->Poll(Context::Background()); };
    opened.put = [things, poll](std::unique_ptr<runtime::Object> object) {
      const std::string key = KeyOf(object->namespace_(), object->name());
      (*things->Lock())[key] = std::move(object);
      return poll();
    };
    opened.remove = [things, poll](std::string_view space, std::string_view name) {
      things->Lock()->erase(KeyOf(space, name));
      return poll();
    };
    opened.forget = Forgetting(opened, parts->kind);
    opened.keep = std::move(parts);
    return opened;
  };
  return host;
}

// The least that a writable source can be.
class Shelf final : public registry::Source {
 public:
  Shelf(std::shared_ptr<Things> things, std::shared_ptr<registry::SourceChanges>* changes)
      : things_(std::move(things)), changes_(changes) {}

  void Start(std::shared_ptr<registry::SourceChanges> changes) override {
    *changes_ = std::move(changes);
  }
  Result<Objects> List(const Context&) override {
    Objects objects;
    auto things = things_->Lock();
    for (const auto& [key, thing] : *things) objects.push_back(thing->Clone());
    return objects;
  }
  Result<std::unique_ptr<runtime::Object>> Get(const Context&, std::string_view space,
                                               std::string_view name) override {
    auto things = things_->Lock();
    const auto found = things->find(KeyOf(space, name));
    if (found == things->end()) return Status(Reason::kNotFound, "");
    return found->second->Clone();
  }
  Status Create(const Context&, runtime::Object& object) override {
    (*things_->Lock())[KeyOf(object.namespace_(), object.name())] = object.Clone();
    return {};
  }
  Status Update(const Context& ctx, const runtime::Object&, runtime::Object& object) override {
    return Create(ctx, object);
  }
  Status Delete(const Context&, const runtime::Object& old) override {
    things_->Lock()->erase(KeyOf(old.namespace_(), old.name()));
    return {};
  }

 private:
  const std::shared_ptr<Things> things_;
  std::shared_ptr<registry::SourceChanges>* const changes_;
};

struct SourceParts : Parts {
  std::shared_ptr<Things> things = std::make_shared<Things>();
  std::shared_ptr<registry::SourceChanges> changes;
};

// `by_itself`: objects come and go by themselves instead of through the store.
kit::RestHost SourceHost(bool by_itself) {
  kit::RestHost host;
  host.spoil = Spoil;
  host.open = [by_itself]() -> Result<kit::RestOpened> {
    auto parts = std::make_shared<SourceParts>();
    registry::SourceOptions options;
    options.store.kind = parts->kind;
    options.store.strategy = parts->strategy;
    options.history_events_max = kEventsKept;
    options.history_window = std::chrono::seconds(0);
    auto store = registry::NewSourceStore(parts->Config(), std::move(options),
                                          std::make_unique<Shelf>(parts->things, &parts->changes));
    if (!store.ok()) return store.status();
    parts->storage = *store;
    if (Status listed = parts->changes->Wait(parts->ctx); !listed.ok()) return listed;
    kit::RestOpened opened;
    opened.storage = *store;
    opened.put = [parts = parts.get()](std::unique_ptr<runtime::Object> object) {
      const std::string space(object->namespace_());
      const std::string name(object->name());
      (*parts->things->Lock())[KeyOf(space, name)] = std::move(object);
      parts->changes->Changed(space, name);
      return parts->changes->Wait(parts->ctx);
    };
    opened.remove = [parts = parts.get()](std::string_view space, std::string_view name) {
      parts->things->Lock()->erase(KeyOf(space, name));
      parts->changes->Changed(space, name);
      return parts->changes->Wait(parts->ctx);
    };
    opened.forget = Forgetting(opened, parts->kind);
    if (!by_itself) {
      opened.put = nullptr;
      opened.remove = nullptr;
    }
    opened.keep = std::move(parts);
    return opened;
  };
  return host;
}

bool RegisterStores() {
  for (const auto& engine : testing::Engines()) {
    kit::RegisterRestConformance("registry.store over " + engine.name,
                                 StoreHost(engine.open, true));
  }
  return kit::RegisterRestConformance("registry.store without a cache",
                                      StoreHost(testing::MemoryEngine(), false));
}

const bool kStores = RegisterStores();
const bool kPolling = kit::RegisterRestConformance("registry.polling_store", PollingHost());
const bool kSource = kit::RegisterRestConformance("registry.source_store", SourceHost(false));
const bool kSourceByItself =
    kit::RegisterRestConformance("registry.source_store that changes by itself", SourceHost(true));

}  // namespace
