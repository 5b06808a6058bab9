#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "apiserver/base/log.h"
#include "apiserver/base/status.h"
#include "apiserver/server/server.h"

// The namespaces that every cluster has: k8s.io/kubernetes/pkg/controlplane/controller,
// systemnamespaces.
namespace apiserver::inline v0::controlplane {

// Options of AddSystemNamespaces().
struct SystemNamespacesOptions {
  std::vector<std::string> namespaces = {"kube-system", "kube-public", "default",
                                         "kube-node-lease"};
  // The time between two looks at whether they exist.
  std::chrono::milliseconds period = std::chrono::minutes(1);
  std::chrono::milliseconds pause_after_failure = std::chrono::seconds(1);
  LogSink* log = &NullLogSink();  // Must outlive the server.
};

// Adds the hook start-system-namespaces-controller, which makes the namespaces that do not exist,
// and makes them again when they are gone; the server is ready once it has tried. Failures are
// logged and tried again. The server must serve namespaces. Call it once, before PrepareRun.
// kConflict: there is such a hook.
Status AddSystemNamespaces(server::GenericAPIServer& server, SystemNamespacesOptions options = {});

}  // namespace apiserver::inline v0::controlplane
