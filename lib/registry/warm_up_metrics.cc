#include "registry/warm_up_metrics.h"

#include <utility>

namespace apiserver::inline v0::registry {

std::function<void(const storage::WarmUp&)> CountWarmUp(
    const std::shared_ptr<metrics::Registry>& registry, const runtime::GroupResource& resource,
    std::function<void(const storage::WarmUp&)> then) {
  const auto family = [](std::string name, std::string help) {
    return metrics::FamilyOptions{
        "apiserver_watch_cache_" + std::move(name), std::move(help), {"group", "resource"}};
  };
  const auto& [group, plural] = resource;
  auto& done = registry
                   ->Counters(family("initializations_total",
                                     "[ALPHA] Counter of watch cache initializations broken by "
                                     "resource type."))
                   .With({group, plural});
  auto& failed = registry
                     ->Counters(family("initialization_errors_total",
                                       "[ALPHA] Counter of watch cache initialization errors "
                                       "broken by resource type."))
                     .With({group, plural});
  auto& loaded = registry
                     ->Gauges(family("loaded_objects",
                                     "[ALPHA] Objects that the initialization under way, or the "
                                     "last one, has read."))
                     .With({group, plural});
  auto& total = registry
                    ->Gauges(family("objects_to_load",
                                    "[ALPHA] Objects that it has to read in all; zero: not known "
                                    "yet."))
                    .With({group, plural});
  return [registry, &done, &failed, &loaded, &total,
          then = std::move(then)](const storage::WarmUp& progress) {
    if (progress.ready) done.Add();
    if (!progress.failure.ok()) failed.Add();
    loaded.Set(static_cast<double>(progress.loaded));
    total.Set(static_cast<double>(progress.total));
    if (then) then(progress);
  };
}

}  // namespace apiserver::inline v0::registry
