#include "registry/warm_up_metrics.h"

#include <utility>

namespace apiserver::inline v0::registry {

std::function<void(const storage::WarmUp&)> CountWarmUp(
    const std::shared_ptr<metrics::Registry>& registry, const runtime::GroupResource& resource,
    std::function<void(const storage::WarmUp&)> then) {
  const auto& [group, plural] = resource;
  const auto family = [](std::string name, std::string help) {
    return metrics::FamilyOptions{"apiserver_watch_cache_" + std::move(name),
                                  "[ALPHA] " + std::move(help),
                                  {"group", "resource"}};
  };
  const auto counter = [&](std::string name, std::string help) -> metrics::Counter& {
    return registry->Counters(family(std::move(name), std::move(help))).With({group, plural});
  };
  const auto gauge = [&](std::string name, std::string help) -> metrics::Gauge& {
    return registry->Gauges(family(std::move(name), std::move(help))).With({group, plural});
  };
  auto& done = counter("initializations_total",
                       "Counter of watch cache initializations broken by resource type.");
  auto& failed = counter("initialization_errors_total",
                         "Counter of watch cache initialization errors broken by resource type.");
  auto& loaded = gauge("loaded_objects",
                       "Objects that the initialization under way, or the last one, has read.");
  auto& total =
      gauge("objects_to_load", "Objects that it has to read in all; zero: not known yet.");
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
