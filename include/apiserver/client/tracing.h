#pragma once

#include <memory>

#include "apiserver/client/http_client.h"

// Traces calls to other servers: each is a span of the work that makes it, and its headers
// (traceparent, tracestate) pass that span on. As component-base/tracing.WrapperFor, but calls of
// work that is not traced begin no trace.
namespace apiserver::inline v0::client {

// Wraps `client` so that its calls are traced.
std::shared_ptr<HttpClient> WithTracing(std::shared_ptr<HttpClient> client);
// Wraps a factory so that its clients are traced. An empty `factory` gives an empty one.
HttpClientFactory WithTracing(HttpClientFactory factory);

}  // namespace apiserver::inline v0::client
