#pragma once

#include <memory>

#include "apiserver/base/clock.h"
#include "apiserver/base/metrics.h"
#include "apiserver/client/http_client.h"

// Metrics of calls to other servers, as client-go's: rest_client_requests_total by code ("<error>":
// there was no answer), method and host, and rest_client_request_duration_seconds by verb and host.
namespace apiserver::inline v0::client {

// Wraps `client` so that its calls are counted. `clock` must outlive it and its calls.
std::shared_ptr<HttpClient> WithMetrics(std::shared_ptr<HttpClient> client,
                                        std::shared_ptr<metrics::Registry> registry,
                                        const Clock& clock = RealClock());
// Wraps a factory so that its clients are counted. An empty `factory` gives an empty one.
HttpClientFactory WithMetrics(HttpClientFactory factory,
                              std::shared_ptr<metrics::Registry> registry,
                              const Clock& clock = RealClock());

}  // namespace apiserver::inline v0::client
