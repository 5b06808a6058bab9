#pragma once

#include <memory>

#include "apiserver/base/metrics.h"
#include "apiserver/http/exchange.h"

namespace apiserver::inline v0::server {

// What `registry` counts, in Prometheus' text; `resets`: DELETE sets it to zero.
// k8s.io/apiserver/pkg/server/routes/metrics.go.
http::Handler NewMetricsHandler(std::shared_ptr<metrics::Registry> registry, bool resets);

}  // namespace apiserver::inline v0::server
