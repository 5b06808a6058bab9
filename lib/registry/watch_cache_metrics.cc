#include "registry/watch_cache_metrics.h"

#include <utility>

namespace apiserver::v0::registry {

void CountWatchCache(const std::shared_ptr<metrics::Registry>& registry,
                     const runtime::GroupResource& resource, storage::cacher::Options& options) {
  const auto family = [](std::string name, std::string help) {
    return metrics::FamilyOptions{
        "apiserver_" + std::move(name), "[ALPHA] " + std::move(help), {"group", "resource"}};
  };
  const auto counter = [&](std::string name, std::string help) -> metrics::Counter& {
    return registry->Counters(family(std::move(name), std::move(help)))
        .With({resource.group, resource.resource});
  };
  const auto gauge = [&](std::string name, std::string help) -> metrics::Gauge& {
    return registry->Gauges(family(std::move(name), std::move(help)))
        .With({resource.group, resource.resource});
  };
  auto& done = counter("watch_cache_initializations_total",
                       "Counter of watch cache initializations broken by resource type.");
  auto& failed = counter("watch_cache_initialization_errors_total",
                         "Counter of watch cache initialization errors broken by resource type.");
  auto& loaded = gauge("watch_cache_loaded_objects",
                       "Objects that the initialization under way, or the last one, has read.");
  auto& total = gauge("watch_cache_objects_to_load",
                      "Objects that it has to read in all; zero: not known yet.");
  auto& terminated =
      counter("terminated_watchers_total",
              "Counter of watchers closed due to unresponsiveness broken by resource type.");
  // The counters belong to the registry, so the callbacks hold it.
  options.on_warm_up = [registry, &done, &failed, &loaded, &total,
                        then = std::move(options.on_warm_up)](const storage::WarmUp& progress) {
    if (progress.ready) done.Add();
    if (!progress.failure.ok()) failed.Add();
    loaded.Set(static_cast<double>(progress.loaded));
    total.Set(static_cast<double>(progress.total));
    if (then) then(progress);
  };
  options.on_slow_watch = [registry, &terminated, then = std::move(options.on_slow_watch)] {
    terminated.Add();
    if (then) then();
  };
}

}  // namespace apiserver::v0::registry
