#include "server/equivalent_resources.h"

#include <string>

namespace apiserver::inline v0::server {

std::vector<admission::EquivalentResource> EquivalentResources::EquivalentResourcesFor(
    const runtime::GroupVersionResource& resource, std::string_view subresource) const {
  const std::shared_ptr<const ApiState> state = state_();
  if (!state) return {};
  std::string name = resource.resource;
  if (!subresource.empty()) name.append("/").append(subresource);
  std::vector<admission::EquivalentResource> found;
  for (const auto& installed : state->installed()) {
    const runtime::GroupVersion& served = installed->group_version();
    if (served.group != resource.group) continue;
    for (const discovery::APIResource& row : installed->resources()) {
      if (row.name != name) continue;
      const bool own = row.version.empty();
      found.push_back(
          {.resource = {served.group, served.version, resource.resource},
           .kind = {own ? served.group : row.group, own ? served.version : row.version, row.kind}});
    }
  }
  return found;
}

}  // namespace apiserver::inline v0::server
