#pragma once

#include <memory>

#include "apiserver/base/clock.h"
#include "apiserver/http/exchange.h"
#include "apiserver/openapi/spec.h"

namespace apiserver::inline v0::server {

using OpenApiPtr = std::shared_ptr<const openapi::Documents>;

// "/openapi/v2", "/openapi/v3" and "/openapi/v3/<path>" from finished documents, with ETags, hashes
// and content negotiation as kube-openapi's handlers.
http::Step ServeOpenApiV2(http::Exchange& exchange, const OpenApiPtr& documents);
http::Step ServeOpenApiV3(http::Exchange& exchange, const OpenApiPtr& documents,
                          const Clock& clock);

}  // namespace apiserver::inline v0::server
