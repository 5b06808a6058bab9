#include "server/equivalent_resources.h"

#include <string>

namespace apiserver::v0::server {

// Linear in the versions and subresources of one resource.
std::vector<admission::EquivalentResource> EquivalentResources::EquivalentResourcesFor(
    const runtime::GroupVersionResource& resource, std::string_view subresource) const {
  std::string name = resource.resource;
  if (!subresource.empty()) name.append("/").append(subresource);
  std::vector<admission::EquivalentResource> found;
  for (const ServedPtr& served : routes_.VersionsOf(resource.group, resource.resource)) {
    const runtime::GroupVersionResource& at = served->installed().resource();
    for (const discovery::APIResource& row : served->installed().resources()) {
      if (row.name != name) continue;
      const bool own = row.version.empty();
      found.push_back(
          {.resource = at,
           .kind = {own ? at.group : row.group, own ? at.version : row.version, row.kind}});
    }
  }
  return found.empty() ? sources_.EquivalentsOf(resource, subresource) : found;
}

}  // namespace apiserver::v0::server
