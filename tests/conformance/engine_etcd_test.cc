#include <memory>

#include "apiserver/storage/etcd/engine.h"
#include "apiserver/testing/storage/engine_conformance_catch2.h"
#include "storage/etcd/etcd_server.h"

namespace apiserver::inline v0 {
namespace {

using storage::etcd::EtcdServer;

// No compaction but the cases' own.
Result<std::unique_ptr<storage::kv::Engine>> Open(const EtcdServer& server, const Clock& clock) {
  return storage::etcd::Open({.servers = server.urls(),
                              .compaction_interval = std::chrono::milliseconds(0),
                              .clock = clock});
}

// A quick election, so that leases may be as short as the cases want them: one second.
testing::storage::EngineHost Host() {
  auto server = std::make_shared<std::unique_ptr<EtcdServer>>();
  return {.open = [server](const Clock& clock) -> Result<std::unique_ptr<storage::kv::Engine>> {
            auto started = EtcdServer::Start(
                1, {.arguments = {"--heartbeat-interval=10", "--election-timeout=100"},
                    .cert_file = "",
                    .key_file = "",
                    .ca_file = ""});
            if (!started.ok()) return started.status();
            *server = std::move(*started);
            return Open(**server, clock);
          },
          .reopen = nullptr,
          .observers = false,
          .remote = true,
          .value_bytes_max = 0};
}

const bool kRegistered = testing::storage::RegisterEngineConformance("storage.etcd", Host());

}  // namespace
}  // namespace apiserver::inline v0
