#include "apiserver/storage/memory/engine.h"
#include "apiserver/testing/storage/engine_conformance_catch2.h"

namespace apiserver::inline v0 {
namespace {

// [engine]
const bool kMemoryRegistered = testing::storage::RegisterEngineConformance(
    "storage.memory",
    {.open = [](const Clock& clock) -> Result<std::unique_ptr<storage::kv::Engine>> {
       return storage::memory::NewEngine(
           {.clock = clock, .history = {.window = {}, .events_max = 0, .bytes_max = 0}});
     },
     .reopen = nullptr,
     .value_bytes_max = 1536 * 1024});
// [/engine]

}  // namespace
}  // namespace apiserver::inline v0
