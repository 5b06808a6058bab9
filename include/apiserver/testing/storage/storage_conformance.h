#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "apiserver/base/clock.h"
#include "apiserver/base/executor.h"
#include "apiserver/base/status.h"
#include "apiserver/runtime/kind.h"
#include "apiserver/storage/interface.h"
#include "apiserver/storage/kv/engine.h"
#include "apiserver/testing/storage/engine_conformance.h"

// Whether what stands over an engine keeps every promise of storage::Interface: the scenarios of
// k8s.io/apiserver/pkg/storage/testing as named cases that any test framework can run;
// storage_conformance_catch2.h does it for Catch2.
namespace apiserver::inline v0::testing::storage {

// Over what, and for which objects, a storage is opened. All of it outlives the storage.
struct StorageSetup {
  apiserver::storage::kv::Engine* engine = nullptr;
  runtime::KindPtr kind;
  std::string prefix;  // "/registry/test.example.com/widgets".
  Executor* executor = nullptr;
  const Clock* clock = nullptr;
  // For caches: how long a read waits for a revision, and how often watches get bookmarks.
  std::chrono::milliseconds fresh_wait = std::chrono::seconds(3);
  std::chrono::milliseconds bookmark_interval = std::chrono::seconds(60);
};

// How the cases get at a storage.
struct StorageHost {
  using Open = std::function<Result<std::unique_ptr<apiserver::storage::Interface>>(
      const StorageSetup& setup)>;

  // Required. As in EngineHost: an engine over a store that was never written to.
  EngineHost::Open open_engine;
  // Required. May be called several times for one engine: servers that share a store.
  Open open_storage;
};

// storage.store, without a cache.
StorageHost StoreHost(EngineHost::Open open_engine);
// storage.cacher. `observed`: the cache observes the engine's commits; else it follows a tail, as
// it does over an engine on another machine.
StorageHost CacherHost(EngineHost::Open open_engine, bool observed);

// `engine`, which must outlive it, as if it were on another machine: Observe answers
// kMethodNotAllowed, and reads kWouldBlock where they may not wait.
std::unique_ptr<apiserver::storage::kv::Engine> NewRemoteEngine(
    apiserver::storage::kv::Engine& engine);

struct StorageCase {
  std::string name;  // "create refuses a key that is taken".
  // The upstream scenario it belongs to, "RunTestCreateWithKeyExist"; empty: one of our own.
  std::string upstream;
  // OK, or which promise was broken in which line.
  std::function<Status(const StorageHost&)> run;
};

std::vector<StorageCase> StorageCases();

// A scenario of k8s.io/apiserver/pkg/storage/testing, and why no case stands for it here (empty:
// some do).
struct UpstreamScenario {
  std::string name;
  std::string not_applicable;
};

// All of them, in upstream's order.
std::vector<UpstreamScenario> UpstreamScenarios();

}  // namespace apiserver::inline v0::testing::storage
