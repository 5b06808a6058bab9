#pragma once

#include "apiserver/http/exchange.h"
#include "apiserver/openapi/route.h"
#include "apiserver/server/server.h"

namespace apiserver::inline v0::server {

// Returns the handler of "/version" and "/version/", which kubectl compares itself with; 404 for
// paths below.
http::Handler NewVersionHandler(const VersionInfo& version);
openapi::Route VersionRoute();
// Exports kubernetes_build_info.
void ShowVersion(const VersionInfo& version, metrics::Registry& registry);

}  // namespace apiserver::inline v0::server
