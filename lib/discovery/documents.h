#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "apiserver/discovery/discovery.h"

namespace apiserver::inline v0::discovery {

// The legacy documents: JSON, ending in a newline.
//
// Returns "/api": the legacy group's versions.
std::string APIVersionsJson(const APIGroup& legacy, std::string_view server_address);
// Returns "/apis".
std::string APIGroupListJson(const std::vector<APIGroup>& groups, std::string_view server_address);

// Returns "/apis" or "/api" in the aggregated form, as apidiscovery.k8s.io/<api_version>
// APIGroupDiscoveryList. The shapes of v2 and v2beta1 are the same.
std::string APIGroupDiscoveryListJson(const std::vector<APIGroup>& groups,
                                      std::string_view api_version);

// Appends `"name":["a","b"]` with a leading comma.
void AppendNames(std::string_view name, const std::vector<std::string>& values, std::string& json);
// Appends `"name":"value"` with a leading comma.
void AppendText(std::string_view name, std::string_view value, std::string& json);

}  // namespace apiserver::inline v0::discovery
