#pragma once

#include <memory>

#include "apiserver/base/clock.h"
#include "apiserver/http/exchange.h"
#include "apiserver/openapi/spec.h"

namespace apiserver::inline v0::server {

using OpenApiPtr = std::shared_ptr<const openapi::Document>;

// Send finished documents, with ETags, hashes and content negotiation as kube-openapi's handlers.
//
// Answers "/openapi/v2".
http::Step SendOpenApiV2(http::Exchange& exchange, const OpenApiPtr& document);
// Answers "/openapi/v3"; the index has one form, whatever the client accepts.
http::Step SendOpenApiV3Index(http::Exchange& exchange, const OpenApiPtr& index);
// Answers "/openapi/v3/<path>".
http::Step SendOpenApiV3(http::Exchange& exchange, const OpenApiPtr& document, const Clock& clock);
// Answers a path that has no document: as kube-openapi with an empty response, not an error.
http::Step SendNoOpenApi(http::Exchange& exchange);

}  // namespace apiserver::inline v0::server
