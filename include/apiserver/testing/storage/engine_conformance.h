#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "apiserver/base/clock.h"
#include "apiserver/base/status.h"
#include "apiserver/storage/kv/engine.h"

// Whether an engine keeps every promise of kv::Engine: named cases that any test framework can run;
// engine_conformance_catch2.h does it for Catch2.
namespace apiserver::inline v0::testing::storage {

// How the cases get at an engine.
struct EngineHost {
  using Open =
      std::function<Result<std::unique_ptr<apiserver::storage::kv::Engine>>(const Clock& clock)>;

  // Required. An engine over an empty store that keeps its history until it is compacted. Leases
  // should end by `clock`; an engine that cannot is waited for.
  Open open;
  // Opens what the last engine, which was stopped and destroyed, has left behind. Empty: nothing
  // survives; the cases about that are left out.
  Open reopen;
  // False: the engine has no Observe, and the cases about it are left out.
  bool observers = true;
  // The store is another process's, as etcd: its tails read ahead of their readers, a lease ends
  // all its keys in one transaction, stats are estimates, and a tail from exactly the compacted
  // revision may be expired. The cases that demand otherwise are left out.
  bool remote = false;
  // The engine's limit; zero: it has none, and the case about it is left out.
  std::size_t value_bytes_max = 0;
};

struct EngineCase {
  std::string name;  // "a create of a taken key fails and tells what holds it".
  // OK, or which promise was broken in which line.
  std::function<Status(const EngineHost&)> run;
};

// All that apply to `host`.
std::vector<EngineCase> EngineCases(const EngineHost& host);

}  // namespace apiserver::inline v0::testing::storage
