#pragma once  // Library-internal: other rooms include this header.

#include <memory>

#include "apiserver/base/metrics.h"
#include "apiserver/http/exchange.h"

namespace apiserver::inline v0::server::debug {

// Returns the handler that shows `registry` in Prometheus' text; `resets`: DELETE sets all counters
// to zero. k8s.io/apiserver/pkg/server/routes/metrics.go.
http::Handler NewMetricsHandler(std::shared_ptr<metrics::Registry> registry, bool resets);

}  // namespace apiserver::inline v0::server::debug
