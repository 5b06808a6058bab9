#include "registry/watch_cache_metrics.h"

#include <utility>

#include "apiserver/base/progress.h"

namespace apiserver::v0::registry {

namespace {

// Counts what becomes of warm-ups.
class WarmUpCounts final : public ProgressSink {
 public:
  struct Series {
    metrics::Counter& done;
    metrics::Counter& failed;
    metrics::Gauge& loaded;
    metrics::Gauge& total;
  };
  WarmUpCounts(std::shared_ptr<metrics::Registry> registry, Series series,
               std::shared_ptr<ProgressSink> next)
      : registry_(std::move(registry)), series_(series), next_(std::move(next)) {}

  // A failure is in one report: the next progress takes it away.
  void Report(const Progress& progress) override {
    if (progress.finished && progress.failure.ok()) series_.done.Add();
    if (!progress.finished && !progress.failure.ok()) series_.failed.Add();
    series_.loaded.Set(static_cast<double>(progress.done));
    series_.total.Set(static_cast<double>(progress.total));
    if (next_ != nullptr) next_->Report(progress);
  }

 private:
  const std::shared_ptr<metrics::Registry> registry_;  // The series belong to it.
  const Series series_;
  const std::shared_ptr<ProgressSink> next_;
};

}  // namespace

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
  options.progress = std::make_shared<WarmUpCounts>(
      registry, WarmUpCounts::Series{done, failed, loaded, total}, std::move(options.progress));
  // The counters belong to the registry, so the callback holds it.
  options.on_slow_watch = [registry, &terminated, then = std::move(options.on_slow_watch)] {
    terminated.Add();
    if (then) then();
  };
}

}  // namespace apiserver::v0::registry
