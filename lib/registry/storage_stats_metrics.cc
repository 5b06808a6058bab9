#include "registry/storage_stats_metrics.h"

#include <string>
#include <utility>

namespace apiserver::v0::registry {

namespace {

// The series of one resource.
class ShownStats {
 public:
  ShownStats(metrics::Registry& registry, runtime::GroupResource resource)
      : resource_(std::move(resource)),
        whole_name_(resource_.group.empty() ? resource_.resource
                                            : resource_.resource + "." + resource_.group),
        by_whole_name_(registry.Gauges(
            {.name = "apiserver_storage_objects",
             .help = "[STABLE] [DEPRECATED, consider using apiserver_resource_objects instead] "
                     "Number of stored objects at the time of last check split by kind. In case "
                     "of a fetching error, the value will be -1.",
             .labels = {"resource"}})),
        objects_(registry.Gauges(
            {.name = "apiserver_resource_objects",
             .help = "[ALPHA] Number of stored objects at the time of last check split by kind. In "
                     "case of a fetching error, the value will be -1.",
             .labels = {"group", "resource"}})),
        bytes_(registry.Gauges(
            {.name = "apiserver_resource_size_estimate_bytes",
             .help = "[ALPHA] Estimated size of stored objects in database. Estimate is based on "
                     "sum of last observed sizes of serialized objects. In case of a fetching "
                     "error, the value will be -1.",
             .labels = {"group", "resource"}})) {}

  void Show(const std::optional<storage::Stats>& stats) {
    const auto objects = stats ? static_cast<double>(stats->count) : -1;
    // -1 tells a scrape that the number is unknown, as upstream.
    by_whole_name_.With({whole_name_}).Set(objects);
    objects_.With({resource_.group, resource_.resource}).Set(objects);
    const bool sized = stats && (stats->count == 0 || stats->average_bytes > 0);
    bytes_.With({resource_.group, resource_.resource})
        .Set(sized ? objects * static_cast<double>(stats->average_bytes) : -1);
  }
  void Remove() {
    by_whole_name_.Remove({whole_name_});
    objects_.Remove({resource_.group, resource_.resource});
    bytes_.Remove({resource_.group, resource_.resource});
  }

 private:
  const runtime::GroupResource resource_;
  const std::string whole_name_;
  metrics::Family<metrics::Gauge>& by_whole_name_;
  metrics::Family<metrics::Gauge>& objects_;
  metrics::Family<metrics::Gauge>& bytes_;
};

}  // namespace

// The numbers are read whenever metrics are scraped, so `storage` must outlive the registration.
Context::Registration ShowStorageStats(const std::shared_ptr<metrics::Registry>& registry,
                                       const runtime::GroupResource& resource,
                                       const storage::Interface& storage) {
  auto shown = std::make_shared<ShownStats>(*registry, resource);
  auto refresh = registry->BeforeSerialize([shown, &storage] { shown->Show(storage.GetStats()); });
  return Context::Registration(
      [registry, shown = std::move(shown), refresh = std::move(refresh)]() mutable {
        refresh.Reset();
        shown->Remove();
      });
}

}  // namespace apiserver::v0::registry
