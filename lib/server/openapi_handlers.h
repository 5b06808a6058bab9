#pragma once

#include <memory>

#include "apiserver/base/clock.h"
#include "apiserver/http/exchange.h"
#include "apiserver/openapi/spec.h"

namespace apiserver::inline v0::server {

using OpenApiPtr = std::shared_ptr<const openapi::Document>;

// Finished documents, with ETags, hashes and content negotiation as kube-openapi's handlers.
//
// "/openapi/v2".
http::Step SendOpenApiV2(http::Exchange& exchange, const OpenApiPtr& document);
// "/openapi/v3": whatever is accepted, the index has one form.
http::Step SendOpenApiV3Index(http::Exchange& exchange, const OpenApiPtr& index);
// "/openapi/v3/<path>".
http::Step SendOpenApiV3(http::Exchange& exchange, const OpenApiPtr& document, const Clock& clock);
// The same for a path that has no document: as kube-openapi an empty answer, not an error.
http::Step SendNoOpenApi(http::Exchange& exchange);

}  // namespace apiserver::inline v0::server
