#include "controlplane/control/endpoint_checks.h"

#include <utility>

namespace apiserver::v0::controlplane {

bool PortsCorrect(const EndpointSubset& subset, const ServerEndpoint& server,
                  bool reconcile_ports) {
  return !reconcile_ports || subset.ports == server.ports;
}

bool SetSkipMirror(Endpoints& endpoints) { return !std::exchange(endpoints.skip_mirror, true); }

void TellReset(LogSink& log, const Endpoints& endpoints) {
  std::string addresses;
  for (const EndpointSubset& subset : endpoints.subsets) {
    for (const std::string& each : subset.addresses) {
      addresses += addresses.empty() ? each : " " + each;
    }
  }
  Log(log, LogLevel::kWarning,
      "Resetting endpoints for master service \"" + endpoints.name + "\" to [" + addresses + "]",
      {});
}

}  // namespace apiserver::v0::controlplane
