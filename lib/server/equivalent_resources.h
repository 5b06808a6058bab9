#pragma once

#include <string_view>
#include <vector>

#include "apiserver/admission/admission.h"
#include "server/route_sources.h"
#include "server/routes.h"

namespace apiserver::inline v0::server {

// The versions in which a server serves a resource now: apimachinery's EquivalentResourceRegistry.
class EquivalentResources final : public admission::EquivalentResourceMapper {
 public:
  // Both must outlive this.
  EquivalentResources(const Routes& routes, const RouteSources& sources)
      : routes_(routes), sources_(sources) {}

  std::vector<admission::EquivalentResource> EquivalentResourcesFor(
      const runtime::GroupVersionResource& resource, std::string_view subresource) const override;

 private:
  const Routes& routes_;
  const RouteSources& sources_;
};

}  // namespace apiserver::inline v0::server
