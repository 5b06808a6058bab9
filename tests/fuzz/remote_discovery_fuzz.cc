// Discovery documents of extension servers, in both forms, and the media types they come with.
#include "aggregator/control/remote_discovery.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace apiserver;  // NOLINT: a fuzz target.
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  (void)aggregator::IsAggregated(text);
  if (const auto versions = aggregator::ReadAggregated(text); versions.ok()) {
    for (const auto& [key, version] : *versions) {
      if (key.version != version.version || version.stale) std::abort();
    }
  }
  // Resources stand in the order of their names, each before its subresources.
  if (const auto list = aggregator::ReadResourceList(text, "v1"); list.ok()) {
    std::string_view last;
    for (const discovery::APIResource& each : list->resources) {
      const std::string_view parent = std::string_view(each.name).substr(0, each.name.find('/'));
      if (parent < last || list->version != "v1") std::abort();
      last = parent;
    }
  }
  return 0;
}
