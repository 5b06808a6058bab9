#pragma once

#include <memory>
#include <string>
#include <vector>

#include "apiserver/base/log.h"
#include "apiserver/base/status.h"
#include "controlplane/control/endpoints.h"
#include "controlplane/control/master_leases.h"

namespace apiserver::inline v0::controlplane {

// The endpoint of one server of a service.
struct ServerEndpoint {
  std::string service_name;
  std::string ip;
  std::vector<EndpointPort> ports;
};

// Keeps the Endpoints of the service of a cluster's servers: reconcilers.EndpointReconciler. One
// thread at a time; calls block.
class EndpointReconciler {
 public:
  virtual ~EndpointReconciler() = default;
  // Adds the server's address, and removes those of servers that are gone. `reconcile_ports`: the
  // ports of the Endpoints become the server's, too.
  virtual Status ReconcileEndpoints(const Context& ctx, client::Client& api,
                                    const ServerEndpoint& server, bool reconcile_ports) = 0;
  // Removes the server's address. kNotFound: it was not there.
  virtual Status RemoveEndpoints(const Context& ctx, client::Client& api,
                                 const ServerEndpoint& server) = 0;
  // Ends the reconciliation: later RemoveEndpoints() may remove the last address.
  virtual void StopReconciling() = 0;
};

// Servers renew a lease; those without one are removed.
std::unique_ptr<EndpointReconciler> NewLeaseEndpointReconciler(std::unique_ptr<MasterLeases> leases,
                                                               LogSink& log);
// There are `count` servers: one more pushes another one out.
std::unique_ptr<EndpointReconciler> NewMasterCountEndpointReconciler(std::size_t count,
                                                                     LogSink& log);

}  // namespace apiserver::inline v0::controlplane
