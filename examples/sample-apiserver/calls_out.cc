#include "calls_out.h"

#include "apiserver/base/metrics.h"
#include "apiserver/client/call_metrics.h"
#include "apiserver/client/pooled_client.h"

namespace sample {

apiserver::client::HttpClientFactory CallsOut(apiserver::server::Config& config) {
  if (!config.metrics) config.metrics = apiserver::metrics::NewRegistry();
  return apiserver::client::WithMetrics(apiserver::client::NewHttpClientFactory(), config.metrics);
}

}  // namespace sample
