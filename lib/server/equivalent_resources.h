#pragma once

#include <functional>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "apiserver/admission/admission.h"
#include "server/api_state.h"

namespace apiserver::inline v0::server {

// The versions in which a server serves a resource now: apimachinery's EquivalentResourceRegistry.
class EquivalentResources final : public admission::EquivalentResourceMapper {
 public:
  // `state` may give null: nothing is served yet.
  explicit EquivalentResources(std::function<std::shared_ptr<const ApiState>()> state)
      : state_(std::move(state)) {}

  std::vector<admission::EquivalentResource> EquivalentResourcesFor(
      const runtime::GroupVersionResource& resource, std::string_view subresource) const override;

 private:
  const std::function<std::shared_ptr<const ApiState>()> state_;
};

}  // namespace apiserver::inline v0::server
