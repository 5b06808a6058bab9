#pragma once

#include <map>
#include <memory>
#include <string>

#include "endpoints/resource.h"

namespace apiserver::inline v0::endpoints {

// The resources by "flunders" or "flunders/status".
using Resources = std::map<std::string, Resource, std::less<>>;

// Makes an Installed that dispatches to `resources`, which are `resource` and its subresources.
// `prefix`: "/apis/wardle.example.com/v1alpha1".
std::shared_ptr<const Installed> NewInstalled(runtime::GroupVersionResource resource,
                                              std::string prefix, Resources resources);

// Returns the rows of discovery, parents before their subresources.
std::vector<discovery::APIResource> APIResourcesOf(const Resources& resources);
// Returns the rows of OpenAPI. They list only parameters and media types that the handlers honour.
std::vector<openapi::Route> RoutesOf(const Resources& resources, const std::string& prefix);

}  // namespace apiserver::inline v0::endpoints
