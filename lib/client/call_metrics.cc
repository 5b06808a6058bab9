#include "apiserver/client/call_metrics.h"

#include <chrono>
#include <string>
#include <utility>

#include "base/status_macros.h"
#include "client/called_url.h"

namespace apiserver::v0::client {

namespace {

// The metrics of k8s.io/component-base/metrics/prometheus/restclient.
class CallCounts {
 public:
  CallCounts(std::shared_ptr<metrics::Registry> registry, const Clock& clock)
      : registry_(std::move(registry)),
        clock_(clock),
        requests_(registry_->Counters(
            {.name = "rest_client_requests_total",
             .help = "[ALPHA] Number of HTTP requests, partitioned by status code, method, and "
                     "host.",
             .labels = {"code", "method", "host"}})),
        durations_(registry_->Histograms(
            {.name = "rest_client_request_duration_seconds",
             .help = "[ALPHA] Request latency in seconds. Broken down by verb, and host.",
             .labels = {"verb", "host"}},
            {0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60})) {}

  Clock::Monotonic Now() const { return clock_.Now(); }
  void Count(const std::string& method, const std::string& host, Clock::Monotonic started,
             const Result<http::ClientResponse>& outcome) {
    requests_.With({outcome.ok() ? std::to_string(outcome->code) : "<error>", method, host}).Add();
    const std::chrono::duration<double> took = Now() - started;
    durations_.With({method, host}).Observe(took.count());
  }

 private:
  const std::shared_ptr<metrics::Registry> registry_;  // Keeps the families.
  const Clock& clock_;
  metrics::Family<metrics::Counter>& requests_;
  metrics::Family<metrics::Histogram>& durations_;
};

class CountedClient final : public HttpClient {
 public:
  CountedClient(std::shared_ptr<HttpClient> client, std::shared_ptr<CallCounts> counts)
      : client_(std::move(client)), counts_(std::move(counts)) {}

  void Start(const Context& ctx, HttpRequest request, Done done) override {
    std::string host(PartsOf(request.url).authority);
    // client-go's word for a call whose host is not known.
    if (host.empty()) host = "none";
    std::string method = request.method;
    client_->Start(ctx, std::move(request),
                   [counts = counts_, method = std::move(method), host = std::move(host),
                    started = counts_->Now(),
                    done = std::move(done)](Result<http::ClientResponse> outcome) mutable {
                     counts->Count(method, host, started, outcome);
                     done(std::move(outcome));
                   });
  }

 private:
  const std::shared_ptr<HttpClient> client_;
  const std::shared_ptr<CallCounts> counts_;
};

}  // namespace

std::shared_ptr<HttpClient> WithMetrics(std::shared_ptr<HttpClient> client,
                                        std::shared_ptr<metrics::Registry> registry,
                                        const Clock& clock) {
  return std::make_shared<CountedClient>(std::move(client),
                                         std::make_shared<CallCounts>(std::move(registry), clock));
}

HttpClientFactory WithMetrics(HttpClientFactory factory,
                              std::shared_ptr<metrics::Registry> registry, const Clock& clock) {
  if (!factory) return factory;
  return [factory = std::move(factory), registry = std::move(registry),
          &clock](const HttpClientOptions& options) -> Result<std::shared_ptr<HttpClient>> {
    ASSIGN_OR_RETURN(std::shared_ptr<HttpClient> client, factory(options));
    return WithMetrics(std::move(client), registry, clock);
  };
}

}  // namespace apiserver::v0::client
