#include "apiserver/controlplane/connections.h"
#include "apiserver/controlplane/kubelet.h"

namespace apiserver::v0::controlplane {

// Texts and order follow ServerRunOptions.Flags of kube-apiserver.
void KubeletOptions::AddFlags(options::FlagSet& flags) {
  flags.BeginSection("Misc");
  flags.Add({.name = "--kubelet-preferred-address-types",
             .value = &preferred_address_types,
             .help = "The types of node addresses to use for kubelet connections, the best first "
                     "(default: Hostname,InternalDNS,InternalIP,ExternalDNS,ExternalIP)",
             .comma_separated = true});
  flags.Add({.name = "--kubelet-port",
             .value = &port,
             .help = "The port of kubelets whose nodes tell none",
             .show_default = true,
             .range = options::FlagRange{.min = 1, .max = 65535}});
  flags.Add({.name = "--kubelet-timeout",
             .value = &timeout,
             .help = "The time for connecting to a kubelet",
             .show_default = true});
  flags.Add({.name = "--kubelet-client-certificate",
             .value = &client_certificate,
             .help = "PEM file of the client certificate that kubelets are shown"});
  flags.Add({.name = "--kubelet-client-key",
             .value = &client_key,
             .help = "PEM file of the client certificate's key"});
  flags.Add({.name = "--kubelet-certificate-authority",
             .value = &certificate_authority,
             .help = "PEM file of the authorities for kubelets' certificates (default: they are "
                     "not verified)"});
}

Status KubeletOptions::Validate() const {
  if (client_certificate.empty() == client_key.empty()) return {};
  return {Reason::kInvalid,
          "--kubelet-client-certificate and --kubelet-client-key must be given together"};
}

void ConnectionsOptions::AddFlags(options::FlagSet& flags) {
  flags.BeginSection("Misc");
  flags.Add({.name = "--max-connection-bytes-per-sec",
             .value = &max_connection_bytes_per_sec,
             .help = "The most bytes a second in each direction of an upgraded connection "
                     "(default: there is no limit)"});
  kubelet.AddFlags(flags);
}

}  // namespace apiserver::v0::controlplane
