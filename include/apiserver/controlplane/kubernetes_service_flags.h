#pragma once

#include <string>
#include <vector>

#include "apiserver/base/file_system.h"
#include "apiserver/base/log.h"
#include "apiserver/base/status.h"
#include "apiserver/controlplane/kubernetes_service.h"
#include "apiserver/options/flag_set.h"

// kube-apiserver's flags for its own service: k8s.io/kubernetes/cmd/kube-apiserver/app/options.
namespace apiserver::inline v0::controlplane {

// The flags, with upstream's defaults.
struct KubernetesServiceFlags {
  // --advertise-address. Empty: --bind-address, or the machine's address if that one is
  // unspecified or of the loopback interface.
  std::string advertise_address = {};
  // --service-cluster-ip-range: one CIDR, or one of each family. Empty: 10.0.0.0/24.
  std::vector<std::string> service_cluster_ip_ranges = {};
  int kubernetes_service_node_port = 0;            // --kubernetes-service-node-port.
  std::string endpoint_reconciler_type = "lease";  // --endpoint-reconciler-type.
  int apiserver_count = 1;                         // --apiserver-count.

  // Adds the flags. They must outlive the reading of the command line.
  void AddFlags(options::FlagSet& flags);
  // Returns a line for each mistake, in upstream's words.
  std::vector<std::string> Validate() const;
  // Returns the options of AddKubernetesService(), without storage and Endpoints. On a machine
  // without an address that others could reach, a warning is logged and nobody keeps endpoints; an
  // advertised address of another family than the services' is kInvalid. May block. `log` must
  // outlive the server.
  Result<KubernetesServiceOptions> NewOptions(const std::string& bind_address, LogSink& log,
                                              const FileSystem& files = RealFileSystem()) const;
};

}  // namespace apiserver::inline v0::controlplane
