#include "apiserver/controlplane/kubernetes_service_flags.h"

#include <utility>

#include "base/status_macros.h"
#include "controlplane/control/addresses.h"
#include "text/ip.h"
#include "text/quote.h"

namespace apiserver::v0::controlplane {
namespace {

constexpr char kDefaultRange[] = "10.0.0.0/24";
constexpr int kFewestFreeBits = 3;  // Eight addresses.
constexpr int kPortMax = 65535;
// --service-node-port-range's default.
constexpr int kNodePortMin = 30000;
constexpr int kNodePortMax = 32767;

Result<ServiceRange> PrimaryRange(const KubernetesServiceFlags& flags) {
  if (flags.service_cluster_ip_ranges.empty()) return ParseServiceRange(kDefaultRange);
  Result<ServiceRange> range = ParseServiceRange(flags.service_cluster_ip_ranges.front());
  if (!range.ok()) {
    return Status(Reason::kInvalid, "service-cluster-ip-range[0] is not a valid cidr");
  }
  if (range->free_bits < kFewestFreeBits) {
    return Status(Reason::kInvalid,
                  "error determining service IP ranges for primary service cidr: the service "
                  "cluster IP range must be at least 8 IP addresses");
  }
  return range;
}

void CheckRanges(const KubernetesServiceFlags& flags, std::vector<std::string>& problems) {
  const std::vector<std::string>& ranges = flags.service_cluster_ip_ranges;
  const Result<ServiceRange> primary = PrimaryRange(flags);
  if (!primary.ok()) {
    problems.emplace_back(primary.status().message());
    return;
  }
  if (ranges.size() > 2) {
    problems.emplace_back("--service-cluster-ip-range must not contain more than two entries");
  }
  if (ranges.size() < 2) return;
  const Result<ServiceRange> secondary = ParseServiceRange(ranges[1]);
  if (!secondary.ok()) {
    problems.emplace_back("service-cluster-ip-range[1] is not an ip net");
  } else if (secondary->v6 == primary->v6) {
    problems.emplace_back(
        "--service-cluster-ip-range[0] and --service-cluster-ip-range[1] must be of different IP "
        "family");
  }
}

}  // namespace

void KubernetesServiceFlags::AddFlags(options::FlagSet& flags) {
  flags.BeginSection("Generic");
  flags.Add({.name = "--advertise-address",
             .value = &advertise_address,
             .help = "The address by which the members of the cluster reach this server (default: "
                     "--bind-address, or the machine's address)"});
  flags.BeginSection("Misc");
  flags.Add({.name = "--service-cluster-ip-range",
             .value = &service_cluster_ip_ranges,
             .help = "The network of the cluster IPs of services, in CIDR notation, or one of each "
                     "family (default: 10.0.0.0/24)",
             .comma_separated = true});
  flags.Add({.name = "--kubernetes-service-node-port",
             .value = &kubernetes_service_node_port,
             .help = "Port of the service kubernetes on each node; 0: it has none",
             .show_default = true});
  flags.Add({.name = "--endpoint-reconciler-type",
             .value = &endpoint_reconciler_type,
             .help = "How the endpoints of the service kubernetes are kept",
             .show_default = true,
             .one_of = {"master-count", "lease", "none"}});
  flags.Add(
      {.name = "--apiserver-count",
       .value = &apiserver_count,
       .help = "How many servers the cluster has, for --endpoint-reconciler-type=master-count",
       .show_default = true});
}

std::vector<std::string> KubernetesServiceFlags::Validate() const {
  std::vector<std::string> problems;
  CheckRanges(*this, problems);
  if (!advertise_address.empty() && !text::CanonicalIP(advertise_address)) {
    problems.push_back("--advertise-address: failed to parse IP: " +
                       text::Quote(advertise_address));
  }
  const std::string port = std::to_string(kubernetes_service_node_port);
  if (kubernetes_service_node_port < 0 || kubernetes_service_node_port > kPortMax) {
    problems.push_back("--kubernetes-service-node-port " + port +
                       " must be between 0 and 65535, inclusive. If 0, the Kubernetes master "
                       "service will be of type ClusterIP");
  }
  if (kubernetes_service_node_port > 0 && (kubernetes_service_node_port < kNodePortMin ||
                                           kubernetes_service_node_port > kNodePortMax)) {
    problems.push_back("kubernetes service node port range 30000-32767 doesn't contain " + port);
  }
  if (apiserver_count <= 0) {
    problems.push_back("--apiserver-count should be a positive number, but value '" +
                       std::to_string(apiserver_count) + "' provided");
  }
  return problems;
}

Result<KubernetesServiceOptions> KubernetesServiceFlags::NewOptions(const std::string& bind_address,
                                                                    LogSink& log,
                                                                    const FileSystem& files) const {
  ASSIGN_OR_RETURN(const ServiceRange range, PrimaryRange(*this));
  KubernetesServiceOptions options{.service_ip = range.first_ip,
                                   .node_port = kubernetes_service_node_port,
                                   .apiserver_count = static_cast<std::size_t>(apiserver_count),
                                   .log = &log};
  if (endpoint_reconciler_type == "none") options.reconciler = EndpointReconcilerType::kNone;
  if (endpoint_reconciler_type == "master-count") {
    options.reconciler = EndpointReconcilerType::kMasterCount;
  }
  if (options.reconciler == EndpointReconcilerType::kNone) return options;
  const auto given = text::CanonicalIP(advertise_address);
  const bool unspecified = !given || *given == "0.0.0.0" || *given == "::";
  const Result<std::string> address =
      unspecified ? ExternalAddressOf(bind_address, files) : Result<std::string>(*given);
  if (!address.ok()) {
    Log(log, LogLevel::kWarning, std::string(address.status().message()), {});
    options.reconciler = EndpointReconcilerType::kNone;
    return options;
  }
  if (text::IsIpv6(*address) != range.v6) {
    return Status(Reason::kInvalid, "service IP family " + text::Quote(range.text) +
                                        " must match public address family " +
                                        text::Quote(*address));
  }
  options.advertise_address = *address;
  return options;
}

}  // namespace apiserver::v0::controlplane
