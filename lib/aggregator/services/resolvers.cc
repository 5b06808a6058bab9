#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>

#include "aggregator/kind/facts.h"
#include "apiserver/aggregator/services.h"
#include "apiserver/base/field_path.h"
#include "apiserver/meta/errors.h"
#include "base/status_macros.h"
#include "http/net.h"

namespace apiserver::v0::aggregator {
namespace {

bool HasClusterIp(const Service& service) {
  return service.type == "ClusterIP" || service.type == "LoadBalancer" ||
         service.type == "NodePort";
}

Status Unsupported(const Service& service) {
  return {Reason::kUnknown, "unsupported service type " + field::QuoteShort(service.type)};
}

Result<ServicePort> FindPort(const Service& service, int port) {
  const auto found = std::find_if(service.ports.begin(), service.ports.end(),
                                  [port](const auto& each) { return each.port == port; });
  if (found != service.ports.end()) return *found;
  return meta::NewServiceUnavailable("no service port " + std::to_string(port) +
                                     " found for service " + field::QuoteShort(service.name));
}

// Follows ResolveCluster.
class ClusterIPResolver final : public ServiceResolver {
 public:
  explicit ClusterIPResolver(std::shared_ptr<const Services> services)
      : services_(std::move(services)) {}

  Result<std::string> ResolveEndpoint(std::string_view service_namespace, std::string_view name,
                                      int port) const override {
    ASSIGN_OR_RETURN(const auto service, services_->FindService(service_namespace, name));
    if (service->type == "ClusterIP" && service->cluster_ip == "None") {
      return Status(Reason::kUnknown, "cannot route to service with ClusterIP \"None\"");
    }
    if (HasClusterIp(*service)) {
      RETURN_IF_ERROR(FindPort(*service, port).status());
      return http::JoinHostPort(service->cluster_ip, port);
    }
    if (service->type != "ExternalName") return Unsupported(*service);
    return http::JoinHostPort(service->external_name, port);
  }

 private:
  const std::shared_ptr<const Services> services_;
};

// Follows ResolveEndpoint and RandomEndpoint.
class EndpointResolver final : public ServiceResolver {
 public:
  EndpointResolver(std::shared_ptr<const Services> services, Random& random)
      : services_(std::move(services)), random_(NewBufferedRandom(random)) {}

  Result<std::string> ResolveEndpoint(std::string_view service_namespace, std::string_view name,
                                      int port) const override {
    ASSIGN_OR_RETURN(const auto service, services_->FindService(service_namespace, name));
    if (!HasClusterIp(*service)) return Unsupported(*service);
    ASSIGN_OR_RETURN(const ServicePort service_port, FindPort(*service, port));
    ASSIGN_OR_RETURN(auto slices, services_->FindEndpointSlices(service_namespace, name));
    Shuffle(slices);
    const std::string family = service->ip_families.empty() ? "" : service->ip_families.front();
    std::stable_partition(slices.begin(), slices.end(),
                          [&family](const auto& slice) { return slice->address_type == family; });
    for (const auto& slice : slices) {
      for (const EndpointPort& each : slice->ports) {
        if (each.name != service_port.name || !each.port) continue;
        const Endpoint* const endpoint = Pick(slice->endpoints);
        if (endpoint != nullptr) return http::JoinHostPort(endpoint->addresses[0], *each.port);
      }
    }
    return meta::NewServiceUnavailable("no endpoints available for service " +
                                       field::QuoteShort(service->name));
  }

 private:
  void Shuffle(std::vector<std::shared_ptr<const EndpointSlice>>& slices) const {
    for (std::size_t i = slices.size(); i > 1; --i) {
      std::swap(slices[i - 1], slices[static_cast<std::size_t>(random_->Below(i))]);
    }
  }

  // Returns the first ready one, from a random place on. Null: there is none.
  const Endpoint* Pick(const std::vector<Endpoint>& endpoints) const {
    if (endpoints.empty()) return nullptr;
    const auto offset = static_cast<std::size_t>(random_->Below(endpoints.size()));
    for (std::size_t i = 0; i < endpoints.size(); ++i) {
      const Endpoint& endpoint = endpoints[(i + offset) % endpoints.size()];
      if (endpoint.ready.value_or(true) && !endpoint.addresses.empty()) return &endpoint;
    }
    return nullptr;
  }

  const std::shared_ptr<const Services> services_;
  const std::unique_ptr<Random> random_;
};

// Tries what there is of a service.
class ReachableResolver final : public ServiceResolver {
 public:
  ReachableResolver(std::shared_ptr<const Services> services, Random& random)
      : services_(std::move(services)), names_(services_), endpoints_(services_, random) {}

  Result<std::string> ResolveEndpoint(std::string_view service_namespace, std::string_view name,
                                      int port) const override {
    ASSIGN_OR_RETURN(const auto service, services_->FindService(service_namespace, name));
    const bool named = service->type == "ExternalName";
    return named ? names_.ResolveEndpoint(service_namespace, name, port)
                 : endpoints_.ResolveEndpoint(service_namespace, name, port);
  }

 private:
  const std::shared_ptr<const Services> services_;
  const ClusterIPResolver names_;
  const EndpointResolver endpoints_;
};

class LoopbackResolver final : public ServiceResolver {
 public:
  LoopbackResolver(std::shared_ptr<const ServiceResolver> delegate, std::string host)
      : delegate_(std::move(delegate)), host_(std::move(host)) {}

  Result<std::string> ResolveEndpoint(std::string_view service_namespace, std::string_view name,
                                      int port) const override {
    if (service_namespace == "default" && name == "kubernetes" && port == kHttpsPort) return host_;
    return delegate_->ResolveEndpoint(service_namespace, name, port);
  }

 private:
  const std::shared_ptr<const ServiceResolver> delegate_;
  const std::string host_;
};

}  // namespace

std::shared_ptr<const ServiceResolver> NewClusterIPServiceResolver(
    std::shared_ptr<const Services> services) {
  return std::make_shared<ClusterIPResolver>(std::move(services));
}

std::shared_ptr<const ServiceResolver> NewEndpointServiceResolver(
    std::shared_ptr<const Services> services, Random& random) {
  return std::make_shared<EndpointResolver>(std::move(services), random);
}

std::shared_ptr<const ServiceResolver> NewReachableServiceResolver(
    std::shared_ptr<const Services> services, Random& random) {
  return std::make_shared<ReachableResolver>(std::move(services), random);
}

std::shared_ptr<const ServiceResolver> NewLoopbackServiceResolver(
    std::shared_ptr<const ServiceResolver> delegate, std::string host) {
  return std::make_shared<LoopbackResolver>(std::move(delegate), std::move(host));
}

}  // namespace apiserver::v0::aggregator
