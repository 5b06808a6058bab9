#pragma once

#include <vector>

#include "apiserver/discovery/discovery.h"
#include "apiserver/openapi/route.h"

namespace apiserver::inline v0::server {

// Returns the rows of the OpenAPI documents for the discovery paths: "/apis/", and for each of
// `groups` "/apis/<group>/" and "/apis/<group>/<version>/", or "/api/" and "/api/<version>/" for
// the legacy group.
std::vector<openapi::Route> DiscoveryRoutes(const std::vector<discovery::APIGroup>& groups);

}  // namespace apiserver::inline v0::server
