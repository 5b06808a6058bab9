#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/base/context.h"
#include "apiserver/base/executor.h"
#include "apiserver/base/file_system.h"
#include "apiserver/base/log.h"
#include "apiserver/base/memory_budget.h"
#include "apiserver/base/reload.h"
#include "apiserver/base/status.h"
#include "apiserver/http/dialer.h"
#include "apiserver/options/flag_set.h"
#include "apiserver/proxy/upstream_pool.h"
#include "apiserver/rest/storage.h"

// The way from an API server to the kubelets of its nodes: k8s.io/kubernetes/pkg/kubelet/client.
namespace apiserver::inline v0::controlplane {

// The flags --kubelet-*. kubeletclient.KubeletClientConfig.
struct KubeletOptions {
  // The types of node addresses that a kubelet is reached at, the best first.
  std::vector<std::string> preferred_address_types = {"Hostname", "InternalDNS", "InternalIP",
                                                      "ExternalDNS", "ExternalIP"};
  // The port of kubelets whose nodes do not tell one.
  int port = 10250;
  // The time in which a connection to a kubelet must be made: name, TCP and TLS together.
  std::chrono::milliseconds timeout = std::chrono::seconds(5);
  // PEM file of the authorities that sign kubelets' certificates. Empty: kubelets are not verified.
  std::string certificate_authority = {};
  // PEM files of the certificate that kubelets are shown, and of its key. Empty: none is shown.
  std::string client_certificate = {};
  std::string client_key = {};

  // Adds the flags under kube-apiserver's names. The options must outlive the reading.
  void AddFlags(options::FlagSet& flags);
  // kInvalid: a certificate is given without its key, or the reverse; the message names the flags.
  Status Validate() const;
};

// A kubelet's address, and the connections by which it is asked.
struct ConnectionInfo {
  std::string host;  // An IP address without brackets, or a name.
  int port = 0;
  // Verifies kubelets as KubeletOptions::certificate_authority says.
  std::shared_ptr<proxy::UpstreamPool> pool;
  // Never verifies them.
  std::shared_ptr<proxy::UpstreamPool> insecure_pool;
};

// Finds the kubelets of nodes. Thread-safe. client.ConnectionInfoGetter.
class ConnectionInfoGetter {
 public:
  virtual ~ConnectionInfoGetter() = default;
  // Returns how to reach the kubelet of a node. Waits for the storage. kNotFound: there is no such
  // node. kUnknown: it has no address of a preferred type: "no preferred addresses found; known
  // addresses: […]".
  virtual Result<ConnectionInfo> GetConnectionInfo(const Context& ctx, std::string_view node) = 0;
  // Stops following the files of certificates. Waits. Idempotent.
  virtual void Stop() = 0;
};

// The services that a ConnectionInfoGetter uses. All outlive it.
struct ConnectionInfoDeps {
  // Required. Dials kubelets.
  http::Dialer* dialer = nullptr;
  // Required. Reads the files of certificates again, each minute; may block.
  Executor* executor = nullptr;
  FileSystem* files = &RealFileSystem();
  LogSink* log = &NullLogSink();
  // Counts what connections keep. Null: it is not counted.
  std::shared_ptr<MemoryBudget> memory = nullptr;
};

// Makes a getter over the nodes that `nodes` returns; a null one means that there are none yet.
// `nodes` is called on the server's threads, once a connection, and must not block.
// kInvalid, kNotFound: a file cannot be used; the message names its flag.
Result<std::shared_ptr<ConnectionInfoGetter>> NewConnectionInfoGetter(
    const KubeletOptions& options, std::function<std::shared_ptr<rest::Getter>()> nodes,
    const ConnectionInfoDeps& deps);

}  // namespace apiserver::inline v0::controlplane
