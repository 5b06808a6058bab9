#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

#include "apiserver/base/log.h"
#include "apiserver/base/status.h"
#include "apiserver/registry/store.h"
#include "apiserver/runtime/kind.h"
#include "apiserver/server/server.h"

// The service by which a cluster's programs reach its servers:
// k8s.io/kubernetes/pkg/controlplane/controller/kubernetesservice, pkg/controlplane/reconcilers.
namespace apiserver::inline v0::controlplane {

// --endpoint-reconciler-type: how the addresses of the servers are kept.
enum class EndpointReconcilerType : std::uint8_t {
  kLease,        // "lease": each server renews a lease in the storage, and those without one go.
  kMasterCount,  // "master-count": there are --apiserver-count servers.
  kNone,         // "none": others keep the addresses.
};

// Options of AddKubernetesService().
struct KubernetesServiceOptions {
  // Required. The cluster IP of the service: the first one of --service-cluster-ip-range.
  std::string service_ip;
  int service_port = 443;
  // --kubernetes-service-node-port. Zero: the service has no node port.
  int node_port = 0;
  // Required, but for kNone. --advertise-address: the address by which others reach this server.
  std::string advertise_address = {};
  // The port for it. Zero: the one that the server listens on.
  int public_port = 0;
  EndpointReconcilerType reconciler = EndpointReconcilerType::kLease;
  // Required for kLease. The storage of the leases, and the kind Endpoints, in which they are kept.
  registry::StorageConfig storage = {};
  runtime::KindPtr endpoints = nullptr;
  std::size_t apiserver_count = 1;  // For kMasterCount.
  // The time between two renewals. A lease lasts half as long again.
  std::chrono::milliseconds period = std::chrono::seconds(10);
  std::chrono::seconds lease_lifetime = std::chrono::seconds(15);
  std::chrono::milliseconds ready_period = std::chrono::milliseconds(100);
  LogSink* log = &NullLogSink();  // Must outlive the server.
};

// Adds the hooks bootstrap-controller and stop-kubernetes-service-controller. Once /readyz says
// that the server is ready, the Service "kubernetes" of the namespace default is made, and the
// server's address is in its Endpoints and EndpointSlice until the server stops. The server must
// serve services, endpoints and endpointslices. Failures are logged and tried again. Call it once,
// before PrepareRun. kInvalid: something required is missing. kConflict: there is such a hook.
Status AddKubernetesService(server::GenericAPIServer& server, KubernetesServiceOptions options);

}  // namespace apiserver::inline v0::controlplane
