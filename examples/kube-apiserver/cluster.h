#pragma once

#include <memory>
#include <string>
#include <vector>

#include "apiserver/base/log.h"
#include "apiserver/base/status.h"
#include "apiserver/controlplane/kubernetes_service_flags.h"
#include "apiserver/options/recommended.h"
#include "apiserver/registry/store.h"
#include "apiserver/server/server.h"

namespace kube {

// The work of a server for its cluster, as flags tell: the namespaces that every cluster has, the
// service kubernetes with its endpoints, and the Lease that tells that the server lives.
class Cluster {
 public:
  void AddFlags(apiserver::options::FlagSet& flags) { flags_.AddFlags(flags); }
  // Returns a line for each mistake in the flags.
  std::vector<std::string> Validate() const { return flags_.Validate(); }
  // Lets the server's certificate have the names of the service.
  apiserver::Status Complete(apiserver::options::RecommendedOptions& options);
  void Configure(const apiserver::server::Config& config) { log_ = config.log; }
  // Adds the hooks. The server serves namespaces, services, endpoints, endpointslices and leases.
  apiserver::Status Install(apiserver::server::GenericAPIServer& server,
                            const apiserver::registry::StorageConfig& storage) const;

 private:
  apiserver::controlplane::KubernetesServiceFlags flags_;
  std::string bind_address_;
  apiserver::LogSink* log_ = &apiserver::NullLogSink();
};

}  // namespace kube
