#pragma once

#include <map>
#include <memory>
#include <string>

#include "endpoints/resource.h"

namespace apiserver::inline v0::endpoints {

// By "flunders" or "flunders/status".
using Resources = std::map<std::string, Resource, std::less<>>;

// Dispatches to `resources`, which are `resource` and its subresources; see Installed. `prefix`:
// "/apis/wardle.example.com/v1alpha1".
std::shared_ptr<const Installed> NewInstalled(runtime::GroupVersionResource resource,
                                              std::string prefix, Resources resources);

// What discovery says of them, parents before their subresources.
std::vector<discovery::APIResource> APIResourcesOf(const Resources& resources);
// What OpenAPI says of them. Lists only parameters and media types the handlers honour.
std::vector<openapi::Route> RoutesOf(const Resources& resources, const std::string& prefix);

}  // namespace apiserver::inline v0::endpoints
