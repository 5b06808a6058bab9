#include "cluster.h"

#include <vector>

#include "apiserver/base/status_macros.h"
#include "apiserver/controlplane/identity_lease.h"
#include "apiserver/controlplane/legacy_token_tracking.h"
#include "apiserver/controlplane/system_namespaces.h"

namespace kube {

using apiserver::Status;
namespace controlplane = apiserver::controlplane;

Status Cluster::Complete(apiserver::options::RecommendedOptions& options) {
  bind_address_ = options.secure_serving.bind_address;
  APISERVER_ASSIGN_OR_RETURN(const auto service, flags_.NewOptions(bind_address_, *log_));
  options.secure_serving.alternate_names = {"kubernetes.default.svc", "kubernetes.default",
                                            "kubernetes"};
  options.secure_serving.alternate_ips = {service.service_ip};
  if (!service.advertise_address.empty()) {
    options.secure_serving.alternate_ips.push_back(service.advertise_address);
  }
  return {};
}

Status Cluster::Install(apiserver::server::GenericAPIServer& server,
                        const apiserver::registry::StorageConfig& storage) const {
  APISERVER_RETURN_IF_ERROR(controlplane::AddSystemNamespaces(server, {.log = log_}));
  APISERVER_RETURN_IF_ERROR(controlplane::AddIdentityLease(server, {.log = log_}));
  APISERVER_RETURN_IF_ERROR(controlplane::AddLegacyTokenTracking(server, {.log = log_}));
  APISERVER_ASSIGN_OR_RETURN(auto service, flags_.NewOptions(bind_address_, *log_));
  service.storage = storage;
  service.endpoints = server.scheme().snapshot()->Find({"", "v1", "Endpoints"});
  return controlplane::AddKubernetesService(server, std::move(service));
}

}  // namespace kube
