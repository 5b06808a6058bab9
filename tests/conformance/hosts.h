#pragma once

#include <memory>
#include <string>
#include <vector>

#include "apiserver/storage/memory/engine.h"
#include "apiserver/storage/rocks/engine.h"
#include "apiserver/testing/storage/storage_conformance.h"
#include "storage/rocks/temp_directory.h"

// The engines that the conformance cases and the histories run over. A new engine is a function
// here and a row in Engines().
namespace apiserver::testing {

using EngineOpen = storage::EngineHost::Open;

inline EngineOpen MemoryEngine() {
  return [](const Clock& clock) -> Result<std::unique_ptr<apiserver::storage::kv::Engine>> {
    return apiserver::storage::memory::NewEngine(
        {.clock = clock, .history = {.window = {}, .events_max = 0, .bytes_max = 0}});
  };
}

// Little memory, so that values and changes are read from disk too.
inline apiserver::storage::rocks::Options SmallRocks(std::string path, const Clock& clock) {
  return {.path = std::move(path),
          .clock = clock,
          .history = {.window = {}, .events_max = 0, .bytes_max = 0},
          .write_buffer_bytes = 256 << 10,
          .block_cache_bytes = 1 << 20,
          .recent_bytes_max = 1 << 20,
          .recent_events_max = 100};
}

inline EngineOpen RocksEngine() {
  using apiserver::storage::rocks::TempDirectory;
  auto directory = std::make_shared<std::unique_ptr<TempDirectory>>();
  return [directory](const Clock& clock) {
    *directory = std::make_unique<TempDirectory>();
    return apiserver::storage::rocks::Open(SmallRocks((*directory)->path(), clock));
  };
}

struct NamedEngine {
  std::string name;
  EngineOpen open;
};
inline std::vector<NamedEngine> Engines() {
  return {{"memory", MemoryEngine()}, {"rocks", RocksEngine()}};
}

// What may stand over an engine.
inline std::vector<std::string> Forms() { return {"store", "cacher", "following"}; }
inline storage::StorageHost HostOf(const std::string& form, EngineOpen open) {
  if (form == "store") return storage::StoreHost(std::move(open));
  return storage::CacherHost(std::move(open), form == "cacher");
}

}  // namespace apiserver::testing
