#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "apiserver/base/log.h"
#include "apiserver/base/status.h"
#include "apiserver/controlplane/kubelet.h"
#include "apiserver/http/dialer.h"
#include "apiserver/options/flag_set.h"
#include "apiserver/proxy/pipes.h"
#include "apiserver/registry/store.h"
#include "apiserver/server/install.h"
#include "apiserver/server/server.h"

// The subresources by which clients reach what runs on nodes: `kubectl logs`, exec, cp, attach,
// port-forward and proxy. k8s.io/kubernetes/pkg/registry/core/{pod,node,service}.
namespace apiserver::inline v0::controlplane {

// Options of the subresources.
struct ConnectionsOptions {
  KubeletOptions kubelet = {};
  // Required. Dials kubelets, pods and services. Outlives the server.
  http::Dialer* dialer = nullptr;
  // Counts and limits upgraded connections. All are closed when the server no longer takes new
  // requests. Null: only the default time limits are set.
  std::shared_ptr<proxy::Pipes> pipes = nullptr;
  // --max-connection-bytes-per-sec: the most bytes a second in each direction of an upgraded
  // connection that is passed on as it is. Zero: there is no limit.
  std::size_t max_connection_bytes_per_sec = 0;
  FileSystem* files = &RealFileSystem();
  LogSink* log = &NullLogSink();

  // Adds --max-connection-bytes-per-sec and the flags of `kubelet`. The options must outlive the
  // reading.
  void AddFlags(options::FlagSet& flags);
};

// Adds pods/attach, exec, log, portforward and proxy, nodes/proxy and services/proxy to resources
// that are about to be installed:
//
//   APISERVER_ASSIGN_OR_RETURN(const auto connections,
//                              controlplane::NewConnections(*server, {.dialer = dialer.get()}));
//   connections->AddTo(resources);
//   APISERVER_ASSIGN_OR_RETURN(const auto stores,
//                              server::InstallKinds(*server, storage, std::move(resources)));
//   connections->Use(stores);
//
// Kubelets are asked over SPDY/3.1 or HTTP; WebSockets of v5.channel.k8s.io and of tunnels are
// translated. The options in a query are validated and shown to admission (CONNECT). Requests are
// forwarded to addresses of pods, services and nodes only if they are global unicast, and logs,
// exec, attach and port-forward to whatever address the pod's node has. Used by one thread; does
// not block.
class Connections {
 public:
  virtual ~Connections() = default;
  // Adds the subresources of those of `resources` that are pods, nodes and services of the legacy
  // group. May be called for several lists.
  virtual void AddTo(std::vector<server::Resource>& resources) = 0;
  // Takes the stores of pods, nodes, services and endpoints among `stores`. The subresources answer
  // kServiceUnavailable without those that they need, and do not keep them.
  virtual void Use(const std::vector<std::shared_ptr<registry::Store>>& stores) = 0;
};

// Adds the kinds of the options to the scheme of `server`, and a hook, so that it is called once,
// before the server starts. kInvalid: the dialer is missing, or the options of kubelets cannot be
// used.
Result<std::unique_ptr<Connections>> NewConnections(server::GenericAPIServer& server,
                                                    const ConnectionsOptions& options);

}  // namespace apiserver::inline v0::controlplane
