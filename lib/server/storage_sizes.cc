#include "server/storage_sizes.h"

#include <algorithm>
#include <utility>

namespace apiserver::v0::server {

StorageSizes::StorageSizes(std::shared_ptr<metrics::Registry> registry)
    : registry_(std::move(registry)),
      bytes_(registry_->Gauges({.name = "apiserver_storage_size_bytes",
                                .help = "[STABLE] Size of the storage database file physically "
                                        "allocated in bytes.",
                                .labels = {"storage_cluster_id"}})),
      refresh_(registry_->BeforeSerialize([this] { Refresh(); })) {}

void StorageSizes::Show(const storage::kv::Engine& engine) {
  auto shown = shown_.Lock();
  const auto is_same = [&](const Shown& each) { return each.engine == &engine; };
  if (std::any_of(shown->begin(), shown->end(), is_same)) return;
  const auto is_alike = [&](const Shown& each) { return each.engine->name() == engine.name(); };
  const auto number = std::count_if(shown->begin(), shown->end(), is_alike);
  shown->push_back({&engine, std::string(engine.name()) + "-" + std::to_string(number)});
}

// An engine in memory has no files, and one that was not asked yet does not know them: no series is
// better than a zero.
void StorageSizes::Refresh() {
  auto shown = shown_.Lock();
  for (const Shown& each : *shown) {
    const std::size_t bytes = each.engine->GetStats().file_bytes;
    if (bytes > 0) bytes_.With({each.id}).Set(static_cast<double>(bytes));
  }
}

}  // namespace apiserver::v0::server
