#include <memory>

#include "apiserver/storage/rocks/engine.h"
#include "apiserver/testing/storage/engine_conformance_catch2.h"
#include "storage/rocks/temp_directory.h"

namespace apiserver::inline v0 {
namespace {

using storage::rocks::TempDirectory;

Result<std::unique_ptr<storage::kv::Engine>> Open(const TempDirectory& directory,
                                                  const Clock& clock) {
  // Little memory, so that values and changes are read from disk too.
  return storage::rocks::Open({.path = directory.path(),
                               .clock = clock,
                               .history = {.window = {}, .events_max = 0, .bytes_max = 0},
                               .write_buffer_bytes = 256 << 10,
                               .block_cache_bytes = 1 << 20,
                               .recent_bytes_max = 1 << 20,
                               .recent_events_max = 100});
}

testing::storage::EngineHost RocksHost() {
  auto directory = std::make_shared<std::unique_ptr<TempDirectory>>();
  return {.open =
              [directory](const Clock& clock) {
                *directory = std::make_unique<TempDirectory>();
                return Open(**directory, clock);
              },
          .reopen = [directory](const Clock& clock) { return Open(**directory, clock); },
          .value_bytes_max = 1536 * 1024};
}

const bool kRocksRegistered =
    testing::storage::RegisterEngineConformance("storage.rocks", RocksHost());

}  // namespace
}  // namespace apiserver::inline v0
