#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apiserver/aggregator/proxy_handler.h"
#include "apiserver/base/log.h"
#include "apiserver/base/random.h"
#include "apiserver/base/status.h"
#include "apiserver/client/client.h"

// The services of extension servers and their endpoints, as far as requests are routed by them:
// k8s.io/apiserver/pkg/util/proxy and k8s.io/kube-aggregator/pkg/apiserver/resolvers.go.
namespace apiserver::inline v0::aggregator {

// A port of a service.
struct ServicePort {
  std::string name = {};
  int port = 0;
};

// A Service.
struct Service {
  std::string namespace_;
  std::string name;
  std::string type = "ClusterIP";  // Or "NodePort", "LoadBalancer", "ExternalName".
  std::string cluster_ip = {};     // "None": the service is headless.
  std::string external_name = {};
  std::vector<std::string> ip_families = {};  // "IPv4", "IPv6"; the primary one first.
  std::vector<ServicePort> ports = {};
};

// An endpoint of an EndpointSlice.
struct Endpoint {
  std::vector<std::string> addresses;
  std::optional<bool> ready = std::nullopt;  // Absent: it is ready.
};

// A port of an EndpointSlice.
struct EndpointPort {
  std::optional<std::string> name = std::nullopt;  // That of the service's port.
  std::optional<int> port = std::nullopt;
};

// An EndpointSlice.
struct EndpointSlice {
  std::string address_type = "IPv4";
  std::vector<Endpoint> endpoints = {};
  std::vector<EndpointPort> ports = {};
};

// The services of a cluster as the host knows them. Any thread, loops included: must not block.
class Services {
 public:
  virtual ~Services() = default;
  // Returns a service. kNotFound: it does not exist. Any other error: nobody knows.
  virtual Result<std::shared_ptr<const Service>> FindService(std::string_view service_namespace,
                                                             std::string_view name) const = 0;
  // Returns the EndpointSlices of a service; an error: nobody knows.
  virtual Result<std::vector<std::shared_ptr<const EndpointSlice>>> FindEndpointSlices(
      std::string_view service_namespace, std::string_view name) const = 0;
  // Sets the function that is told of each change of a service and of its EndpointSlices. Null:
  // none. Called on any thread; must not block. It is not called any more once this has returned.
  using OnChange = std::function<void(std::string_view service_namespace, std::string_view name)>;
  virtual void SetOnChange(OnChange on_change) = 0;
};

// Services that the host sets one by one, for a server without the kinds Service and EndpointSlice.
// Any thread; no method blocks.
class StaticServices : public Services {
 public:
  // Sets a service, or changes it.
  virtual void Set(Service service) = 0;
  // Sets all EndpointSlices of a service.
  virtual void SetEndpointSlices(std::string_view service_namespace, std::string_view name,
                                 std::vector<EndpointSlice> slices) = 0;
  // Removes a service with its EndpointSlices.
  virtual void Remove(std::string_view service_namespace, std::string_view name) = 0;
};
std::shared_ptr<StaticServices> NewStaticServices();

// The Services and EndpointSlices (discovery.k8s.io/v1) of a server, followed by informers. Before
// they have been listed nobody knows a service. Any thread, but for Start and Stop, which belong to
// the owner.
class InformedServices : public Services {
 public:
  // Begins to follow the server of `client`. Called once. `slices`: false for a server without
  // EndpointSlices: nobody knows those then.
  virtual void Start(std::shared_ptr<client::Client> client, bool slices) = 0;
  void Start(std::shared_ptr<client::Client> client) { Start(std::move(client), /*slices=*/true); }
  // Stops following. Idempotent. Known services stay known.
  virtual void Stop() = 0;
  // Waits until what is followed has been listed once. False: `timeout` passed first.
  virtual bool WaitForSync(std::chrono::milliseconds timeout) const = 0;
};
// `log`, which must outlive it, gets the informers' errors.
std::shared_ptr<InformedServices> NewInformedServices(LogSink& log = NullLogSink());

// Return resolvers. Their errors have Kubernetes' texts.
//
// The address of a service itself: its cluster IP, or its external name, of which the port is not
// checked.
std::shared_ptr<const ServiceResolver> NewClusterIPServiceResolver(
    std::shared_ptr<const Services> services);
// The address of one of its endpoints that are ready, at random; of the service's primary family of
// addresses if there is any. `random` must outlive it.
std::shared_ptr<const ServiceResolver> NewEndpointServiceResolver(
    std::shared_ptr<const Services> services, Random& random = SecureRandom());
// The external name of a service that is but another name, else the address of an endpoint: for
// clusters in which nothing carries cluster IPs.
std::shared_ptr<const ServiceResolver> NewReachableServiceResolver(
    std::shared_ptr<const Services> services, Random& random = SecureRandom());
// `host` for the port 443 of default/kubernetes, which is this server; for others `delegate` knows.
std::shared_ptr<const ServiceResolver> NewLoopbackServiceResolver(
    std::shared_ptr<const ServiceResolver> delegate, std::string host);

}  // namespace apiserver::inline v0::aggregator
