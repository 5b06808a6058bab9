#include <atomic>
#include <memory>
#include <string>
#include <utility>

#include "apiserver/base/sync.h"
#include "apiserver/testing/storage/fault_engine.h"
#include "storage/backends.h"

// A cache that begins with what another one has in memory.
using namespace apiserver;  // NOLINT: a test.
using testing::NamesOf;

namespace {

// Caches of one resource over an engine that is observed, or followed as if it were elsewhere.
struct Succession {
  explicit Succession(bool observed)
      : remote(observed ? nullptr : testing::storage::NewRemoteEngine(*engine)),
        faults(testing::storage::NewFaultEngine(observed ? *engine : *remote)) {}
  ~Succession() {
    if (first) first->Stop();
    if (second) second->Stop();
    pool->Stop();
    first = second = nullptr;
    engine->Stop();
  }

  std::shared_ptr<storage::Interface> Open(std::shared_ptr<storage::Interface> predecessor) {
    storage::cacher::Options options;
    options.store.engine = faults.get();
    options.store.kind = kind;
    options.store.prefix = "/p";
    options.executor = pool.get();
    options.predecessor = std::move(predecessor);
    std::shared_ptr<storage::Interface> opened = storage::cacher::New(options);
    while (!opened->Ready().ok()) std::this_thread::yield();
    return opened;
  }
  void Create(storage::Interface& storage, const std::string& name) const {
    const auto object = testing::NewWidget(kind, name, "ns");
    REQUIRE(storage.Create(ctx, "/ns/" + name, *object, {}).ok());
  }

  Context ctx = Context::Background();
  runtime::KindPtr kind = testing::NewWidgetKind();
  std::unique_ptr<ThreadPool> pool = NewThreadPool({"cacher", 2});
  std::unique_ptr<storage::kv::Engine> engine = storage::memory::NewEngine();
  std::unique_ptr<storage::kv::Engine> remote;
  std::unique_ptr<testing::storage::FaultEngine> faults;
  std::shared_ptr<storage::Interface> first;
  std::shared_ptr<storage::Interface> second;
};

}  // namespace

TEST_CASE("storage.cacher: a cache takes over what its predecessor has in memory",
          "[storage.cacher]") {
  const bool observed = GENERATE(true, false);
  INFO(observed);
  Succession caches(observed);
  caches.first = caches.Open(nullptr);
  caches.Create(*caches.first, "one");
  caches.Create(*caches.first, "two");
  // The second could not read the engine.
  caches.faults->FailRanges(1'000, Status(Reason::kServiceUnavailable, "the engine is down"));
  caches.kind = testing::NewWidgetKind();
  caches.second = caches.Open(caches.first);
  CHECK(NamesOf(caches.second->GetList(caches.ctx, "/", {})) == "one two");
  const auto one = caches.second->Get(caches.ctx, "/ns/one", {}).value();
  CHECK(one->kind_ptr() == caches.kind);
  CHECK(one->stored_bytes() ==
        caches.first->Get(caches.ctx, "/ns/one", {}).value()->stored_bytes());
  caches.first->Stop();
  caches.first = nullptr;
  caches.Create(*caches.second, "three");
  CHECK(NamesOf(caches.second->GetList(caches.ctx, "/", {})) == "one three two");
}

TEST_CASE("storage.cacher: a cache whose predecessor has gone reads the engine",
          "[storage.cacher]") {
  Succession caches(/*observed=*/true);
  caches.first = caches.Open(nullptr);
  caches.Create(*caches.first, "one");
  caches.first->Stop();
  caches.second = caches.Open(caches.first);
  CHECK(NamesOf(caches.second->GetList(caches.ctx, "/", {})) == "one");
}

TEST_CASE("storage.cacher: no write is lost between a cache and its successor",
          "[storage.cacher]") {
  const bool observed = GENERATE(true, false);
  INFO(observed);
  Succession caches(observed);
  caches.first = caches.Open(nullptr);
  const auto store =
      storage::store::New({.engine = caches.engine.get(), .kind = caches.kind, .prefix = "/p"});
  std::atomic<bool> done = false;
  std::atomic<int> written = 0;
  {
    const Thread writer("writer", [&] {
      while (!done) {
        const std::string name = "o" + std::to_string(written);
        const auto object = testing::NewWidget(caches.kind, name, "ns");
        if (store->Create(caches.ctx, "/ns/" + name, *object, {}).ok()) ++written;
      }
    });
    for (int i = 0; i < 20; ++i) {
      const int before = written;
      while (written < before + 20) std::this_thread::yield();
      const int least = written;
      caches.second = caches.Open(caches.first);
      CHECK(caches.second->GetList(caches.ctx, "/", {})->items.size() >=
            static_cast<std::size_t>(least));
      std::swap(caches.first, caches.second);
      caches.second->Stop();
    }
    done = true;
  }
  const auto all = caches.first->GetList(caches.ctx, "/", {}).value();
  CHECK(all.items.size() == static_cast<std::size_t>(written));
}
