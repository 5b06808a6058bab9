#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "apiserver/base/clock.h"
#include "apiserver/base/status.h"
#include "apiserver/storage/kv/engine.h"

// Tests that an engine keeps every promise of kv::Engine: named cases for any test framework.
// engine_conformance_catch2.h registers them with Catch2.
namespace apiserver::inline v0::testing::storage {

// The cases' access to an engine. The functions run on the thread of the case and may block.
struct EngineHost {
  // `clock` outlives the engine.
  using Open =
      std::function<Result<std::unique_ptr<apiserver::storage::kv::Engine>>(const Clock& clock)>;

  // Opens an engine over an empty store that keeps its history until it is compacted. Required.
  // Leases should expire by `clock`; for an engine with a clock of its own the cases wait.
  Open open;
  // Opens what the last engine left behind, after it was stopped and destroyed. Empty: nothing
  // survives a restart, and the cases about restarts are left out.
  Open reopen;
  // If not set, the engine has no Observe, and the cases about observers are left out.
  bool observers = true;
  // If set, the store is in another process, as etcd's is: its tails read ahead of their readers, a
  // lease deletes all its keys in one transaction, stats are estimates, and a tail from exactly the
  // compacted revision may be expired. The cases that demand otherwise are left out.
  bool remote = false;
  // The engine's limit of a value, in bytes. Zero: no limit, and the case about it is left out.
  std::size_t value_bytes_max = 0;
};

// A promise of kv::Engine as a test.
struct EngineCase {
  std::string name;  // "a create of a taken key fails and tells what holds it".
  // Returns OK, or an error with the broken promise and its source line. Blocks its thread until
  // the case is over.
  std::function<Status(const EngineHost&)> run;
};

// The cases that apply to `host`.
std::vector<EngineCase> EngineCases(const EngineHost& host);

}  // namespace apiserver::inline v0::testing::storage
