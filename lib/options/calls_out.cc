#include "options/calls_out.h"

#include "apiserver/base/metrics.h"
#include "apiserver/client/call_metrics.h"
#include "apiserver/client/pooled_client.h"

namespace apiserver::v0::options {

// Metrics are made here if no option before has: one registry counts the calls of all options.
client::HttpClientFactory CallsOut(server::Config& config) {
  if (!config.metrics) config.metrics = metrics::NewRegistry();
  return client::WithMetrics(client::NewHttpClientFactory(), config.metrics);
}

}  // namespace apiserver::v0::options
