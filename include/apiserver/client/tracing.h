#pragma once

#include <memory>

#include "apiserver/client/http_client.h"

// Calls to other servers in traces: each is a span of the work that makes it, and tells the other
// server which (traceparent, tracestate). As component-base/tracing.WrapperFor, but that calls of
// work which is not traced begin no trace.
namespace apiserver::inline v0::client {

// `client`, traced.
std::shared_ptr<HttpClient> WithTracing(std::shared_ptr<HttpClient> client);
// Makes what `factory` makes, traced. Empty if that is.
HttpClientFactory WithTracing(HttpClientFactory factory);

}  // namespace apiserver::inline v0::client
