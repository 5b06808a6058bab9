#pragma once

#include <memory>
#include <string>
#include <vector>

#include "apiserver/storage/etcd/engine.h"
#include "apiserver/storage/memory/engine.h"
#include "apiserver/storage/rocks/engine.h"
#include "apiserver/testing/storage/storage_conformance.h"
#include "storage/etcd/etcd_server.h"
#include "storage/rocks/temp_directory.h"

// The engines that the conformance cases and the histories run over. A new engine is a function
// here and a row in Engines().
namespace apiserver::inline v0::testing {

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

// An etcd of one member for each engine, which compacts when it is told to only. Its elections are
// quick, so that leases may be as short as the cases want them: one second.
inline EngineOpen EtcdEngine() {
  using apiserver::storage::etcd::EtcdServer;
  auto server = std::make_shared<std::unique_ptr<EtcdServer>>();
  return [server](const Clock& clock) -> Result<std::unique_ptr<apiserver::storage::kv::Engine>> {
    auto started =
        EtcdServer::Start(1, {.arguments = {"--heartbeat-interval=10", "--election-timeout=100"},
                              .cert_file = "",
                              .key_file = "",
                              .ca_file = ""});
    if (!started.ok()) return started.status();
    *server = std::move(*started);
    return apiserver::storage::etcd::Open({.servers = (*server)->urls(),
                                           .compaction_interval = std::chrono::milliseconds(0),
                                           .clock = clock});
  };
}

struct NamedEngine {
  std::string name;
  EngineOpen open;
  // What may stand over it. A cacher cannot observe an engine of another process: it follows it.
  std::vector<std::string> forms;
};
inline std::vector<NamedEngine> Engines() {
  return {{"memory", MemoryEngine(), {"store", "cacher", "following"}},
          {"rocks", RocksEngine(), {"store", "cacher", "following"}},
          {"etcd", EtcdEngine(), {"store", "cacher"}}};
}

inline storage::StorageHost HostOf(const std::string& form, EngineOpen open) {
  if (form == "store") return storage::StoreHost(std::move(open));
  return storage::CacherHost(std::move(open), form == "cacher");
}

}  // namespace apiserver::inline v0::testing
