#pragma once

#include "apiserver/base/log.h"
#include "controlplane/control/endpoint_reconciler.h"

namespace apiserver::inline v0::controlplane {

// Which parts of stored Endpoints are as they should be.
struct Correct {
  bool format = false;  // There is one subset.
  bool ips = false;
  bool ports = false;
  bool all() const { return format && ips && ports; }
};

// True if the subset has the server's ports, or need not have them.
bool PortsCorrect(const EndpointSubset& subset, const ServerEndpoint& server, bool reconcile_ports);
// Sets the label endpointslice.kubernetes.io/skip-mirror, without which another controller makes a
// second slice. Returns whether it was missing.
bool SetSkipMirror(Endpoints& endpoints);
// Logs that Endpoints are written.
void TellReset(LogSink& log, const Endpoints& endpoints);

}  // namespace apiserver::inline v0::controlplane
