#include "apiserver/aggregator/proxy_handler.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "apiserver/auth/user.h"
#include "apiserver/base/sync.h"
#include "apiserver/proxy/upgrade_aware_handler.h"
#include "apiserver/request/request_info.h"

namespace apiserver::v0::aggregator {
namespace {

// kubectl and others ask all extension servers for discovery, and wait for each.
constexpr auto kDiscoveryTime = std::chrono::seconds(5);

// Returns whether the request is for "/apis/<group>/<version>".
bool IsDiscovery(const http::Exchange& exchange) {
  const auto* info = exchange.Find<request::RequestInfo>();
  if (info == nullptr || info->is_resource_request) return false;
  std::string_view path = info->path;
  while (path.starts_with('/')) path.remove_prefix(1);
  while (path.ends_with('/')) path.remove_suffix(1);
  return !path.empty() && std::count(path.begin(), path.end(), '/') == 2;
}

// Connections to the server of an APIService, and why there are none.
struct Transport {
  std::shared_ptr<const http::KeyPair> client;
  Result<std::shared_ptr<proxy::UpstreamPool>> pool = Status(Reason::kUnknown, "");
};

// An APIService and its transport, which is made anew when the client certificate changes.
struct Handling {
  ProxiedAPIService service;
  Guarded<Transport> transport;
};

class Handler final : public ProxyHandler {
 public:
  explicit Handler(ProxyHandlerOptions options) : options_(std::move(options)) {}

  void UpdateAPIService(std::optional<ProxiedAPIService> service) override;
  http::Step ServeHTTP(http::Exchange& exchange) const override;

 private:
  Result<std::shared_ptr<proxy::UpstreamPool>> PoolFor(Handling& handling) const;
  http::Step Forward(http::Exchange& exchange, Handling& handling) const;

  const ProxyHandlerOptions options_;
  Guarded<std::shared_ptr<Handling>> handling_;  // Null: it is local.
};

void Handler::UpdateAPIService(std::optional<ProxiedAPIService> service) {
  std::shared_ptr<Handling> next;
  if (service) {
    next = std::make_shared<Handling>();
    next->service = *std::move(service);
  }
  handling_.Lock()->swap(next);
}

http::Step Handler::ServeHTTP(http::Exchange& exchange) const {
  const std::shared_ptr<Handling> handling = *handling_.Lock();
  if (handling) return Forward(exchange, *handling);
  if (options_.local_delegate) return options_.local_delegate(exchange);
  return proxy::RespondText(exchange, 404, "");
}

http::Step Handler::Forward(http::Exchange& exchange, Handling& handling) const {
  const ProxiedAPIService& service = handling.service;
  if (!service.available) return proxy::RespondText(exchange, 503, "service unavailable");
  const auto pool = PoolFor(handling);
  if (!pool.ok()) return proxy::RespondText(exchange, 500, pool.status().message());
  const auto* user = exchange.Find<auth::UserInfoPtr>();
  if (user == nullptr || *user == nullptr) {
    return proxy::RespondText(exchange, 500, "missing user");
  }
  auto host = options_.service_resolver->ResolveEndpoint(
      service.service_namespace, service.service_name, service.service_port);
  if (!host.ok()) return proxy::RespondText(exchange, 503, "service unavailable");
  if (IsDiscovery(exchange)) exchange.ctx().LimitTo(options_.clock->Now() + kDiscoveryTime);
  const proxy::UpgradeAwareHandler forward{
      .location = {.scheme = "https",
                   .host = *std::move(host),
                   .path = exchange.request().path,
                   .raw_query = proxy::EncodeQuery(exchange.request().query)},
      .pool = *pool,
      .identity = *user,
      .wrap_transport = true,
      .reject_forwarding_redirects = options_.reject_forwarding_redirects,
      .new_request = true,
      .pipes = options_.pipes,
      .user = (*user)->name,
      .responder = proxy::RespondUnavailable};
  return forward.ServeHTTP(exchange);
}

// A pool shows one certificate. The old one ends with the requests that use it.
Result<std::shared_ptr<proxy::UpstreamPool>> Handler::PoolFor(Handling& handling) const {
  const ProxiedAPIService& service = handling.service;
  const auto client = options_.proxy_client ? options_.proxy_client->Get() : nullptr;
  auto transport = handling.transport.Lock();
  if (transport->pool.ok() && transport->client == client) return transport->pool;
  http::ClientTls tls;
  tls.server_name = service.service_name + "." + service.service_namespace + ".svc";
  if (!service.insecure_skip_tls_verify) {
    tls.ca_pem = service.ca_bundle_pem;
    tls.system_roots = service.ca_bundle_pem.empty();
  }
  if (client) tls.client = *client;
  transport->client = client;
  transport->pool = proxy::NewUpstreamPool(
      {.dialer = options_.dialer, .tls = std::move(tls), .memory = options_.memory});
  return transport->pool;
}

}  // namespace

std::shared_ptr<ProxyHandler> NewProxyHandler(ProxyHandlerOptions options) {
  return std::make_shared<Handler>(std::move(options));
}

}  // namespace apiserver::v0::aggregator
