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

// Tests that a storage over an engine keeps every promise of storage::Interface: the scenarios of
// k8s.io/apiserver/pkg/storage/testing as named cases for any test framework.
// storage_conformance_catch2.h registers them with Catch2.
namespace apiserver::inline v0::testing::storage {

// The arguments of opening a storage. All of it outlives the storage.
struct StorageSetup {
  apiserver::storage::kv::Engine* engine = nullptr;
  // The kind of NewWidgetKind() (widget.h).
  runtime::KindPtr kind;
  std::string prefix;  // "/registry/test.example.com/widgets".
  // Runs the storage's tasks, which may block.
  Executor* executor = nullptr;
  const Clock* clock = nullptr;
  // The time that a cache's read waits for a revision, and the interval of its watches' bookmarks.
  std::chrono::milliseconds fresh_wait = std::chrono::seconds(3);
  std::chrono::milliseconds bookmark_interval = std::chrono::seconds(60);
};

// The cases' access to a storage. The functions run on the thread of the case and may block.
struct StorageHost {
  using Open = std::function<Result<std::unique_ptr<apiserver::storage::Interface>>(
      const StorageSetup& setup)>;

  // Opens an engine over an empty store, as EngineHost::open. Required.
  EngineHost::Open open_engine;
  // Opens a storage. Required. Called several times for one engine in cases where servers share a
  // store.
  Open open_storage;
};

// Opens storage.store, without a cache.
StorageHost StoreHost(EngineHost::Open open_engine);
// Opens storage.cacher. `observed`: the cache observes the engine's commits; otherwise it follows a
// tail, as over an engine on another machine.
StorageHost CacherHost(EngineHost::Open open_engine, bool observed);

// Makes `engine`, which must outlive the result, look like one on another machine: Observe returns
// kMethodNotAllowed, and reads return kWouldBlock where they may not block.
std::unique_ptr<apiserver::storage::kv::Engine> NewRemoteEngine(
    apiserver::storage::kv::Engine& engine);

// A promise of storage::Interface as a test.
struct StorageCase {
  std::string name;  // "create refuses a key that is taken".
  // The upstream scenario of the case, "RunTestCreateWithKeyExist". Empty: the case has no
  // counterpart upstream.
  std::string upstream;
  // Returns OK, or an error with the broken promise and its source line. Blocks its thread until
  // the case is over.
  std::function<Status(const StorageHost&)> run;
};

// All cases.
std::vector<StorageCase> StorageCases();

// A scenario of k8s.io/apiserver/pkg/storage/testing, and why no case stands for it here. Empty
// reason: there are cases.
struct UpstreamScenario {
  std::string name;
  std::string not_applicable;
};

// All scenarios, in upstream's order.
std::vector<UpstreamScenario> UpstreamScenarios();

}  // namespace apiserver::inline v0::testing::storage
