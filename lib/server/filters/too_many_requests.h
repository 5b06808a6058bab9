#pragma once

#include "apiserver/http/exchange.h"
#include "server/filters/filters.h"

namespace apiserver::inline v0::server {

// Answers a request that flow control rejects: plain text, as upstream's filters do. Counts it.
http::Step TooManyRequests(http::Exchange& exchange, int retry_after_seconds,
                           const RefusalMetrics& counted);

}  // namespace apiserver::inline v0::server
