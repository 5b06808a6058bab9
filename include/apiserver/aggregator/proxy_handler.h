#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "apiserver/base/clock.h"
#include "apiserver/base/memory_budget.h"
#include "apiserver/base/source.h"
#include "apiserver/base/status.h"
#include "apiserver/http/certificates.h"
#include "apiserver/http/dialer.h"
#include "apiserver/http/exchange.h"
#include "apiserver/http/tls.h"
#include "apiserver/proxy/pipes.h"

// Requests for the group versions of extension servers: k8s.io/kube-aggregator/pkg/apiserver,
// handler_proxy.go.
namespace apiserver::inline v0::aggregator {

// Holds the parts of an APIService with a service that proxying needs.
struct ProxiedAPIService {
  std::string name = {};  // "v1.example.com".
  std::string service_namespace = {};
  std::string service_name = {};
  int service_port = 443;
  // The authorities of the extension server (PEM). Empty: those of this machine, unless
  // `insecure_skip_tls_verify`.
  std::string ca_bundle_pem = {};
  bool insecure_skip_tls_verify = false;
  bool available = false;  // The condition Available.

  friend bool operator==(const ProxiedAPIService&, const ProxiedAPIService&) = default;
};

// Finds the addresses of services. Any thread, loops included: must not block.
class ServiceResolver {
 public:
  virtual ~ServiceResolver() = default;
  // Returns "host:port" of the service, or of one of its endpoints. Any error: it has none now.
  virtual Result<std::string> ResolveEndpoint(std::string_view service_namespace,
                                              std::string_view name, int port) const = 0;
};

// Options of a ProxyHandler.
struct ProxyHandlerOptions {
  // Required. It must outlive the server of the handler.
  http::Dialer* dialer = nullptr;
  std::shared_ptr<const ServiceResolver> service_resolver;  // Required.
  // The certificate by which extension servers know a front proxy. A change takes effect with the
  // next request. Null: none is shown.
  std::shared_ptr<const Source<http::KeyPair>> proxy_client = nullptr;
  // Answers requests while the APIService is local, or not known yet; on the exchange's loop, where
  // it must not block. Null: 404.
  http::Handler local_delegate = nullptr;
  bool reject_forwarding_redirects = true;
  // Counts upgraded connections. Null: they are not limited in number.
  std::shared_ptr<proxy::Pipes> pipes = nullptr;
  // See http::DialOptions.
  std::shared_ptr<MemoryBudget> memory = nullptr;
  const Clock* clock = &RealClock();
};

// Forwards the requests of one APIService to its extension server, in the name of the user that the
// exchange has (auth::UserInfoPtr). Thread-safe; no method blocks.
//
// Answers of its own are plain text: 503 "service unavailable" if the APIService is not available
// or its service has no address; 500 if its authorities cannot be read, or "missing user"; 503
// "error trying to reach service: …". A request for discovery (/apis/<group>/<version>) has five
// seconds.
class ProxyHandler {
 public:
  virtual ~ProxyHandler() = default;
  // Takes a new state of the APIService. nullopt: it is local. Requests in progress keep the old
  // one.
  virtual void UpdateAPIService(std::optional<ProxiedAPIService> service) = 0;
  // Answers a request, on a loop or the pool.
  virtual http::Step ServeHTTP(http::Exchange& exchange) const = 0;
};

// Makes a handler whose APIService is local until UpdateAPIService().
std::shared_ptr<ProxyHandler> NewProxyHandler(ProxyHandlerOptions options);

}  // namespace apiserver::inline v0::aggregator
