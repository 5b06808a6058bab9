#include "controlplane/control/endpoint_reconciler.h"

#include <set>
#include <utility>

#include "base/status_macros.h"
#include "controlplane/control/endpoint_checks.h"

namespace apiserver::v0::controlplane {
namespace {

class LeaseReconciler final : public EndpointReconciler {
 public:
  LeaseReconciler(std::unique_ptr<MasterLeases> leases, LogSink& log)
      : leases_(std::move(leases)), log_(log) {}

  // Renews the lease first, whatever happens to the Endpoints: other servers will add this one.
  Status ReconcileEndpoints(const Context& ctx, client::Client& api, const ServerEndpoint& server,
                            bool reconcile_ports) override {
    if (stopped_) return {};
    RETURN_IF_ERROR(leases_->UpdateLease(ctx, server.ip));
    return Reconcile(ctx, api, server, reconcile_ports);
  }
  Status RemoveEndpoints(const Context& ctx, client::Client& api,
                         const ServerEndpoint& server) override {
    RETURN_IF_ERROR(leases_->RemoveLease(ctx, server.ip));
    return Reconcile(ctx, api, server, true);
  }
  void StopReconciling() override { stopped_ = true; }

 private:
  Status Reconcile(const Context& ctx, client::Client& api, const ServerEndpoint& server,
                   bool reconcile_ports) {
    EndpointsAdapter adapter(api);
    Endpoints endpoints{.name = server.service_name};
    Result<Endpoints> stored = adapter.Get(ctx, server.service_name);
    const bool missing = stored.status().reason() == Reason::kNotFound;
    if (!missing) {
      RETURN_IF_ERROR(stored.status());
      endpoints = *std::move(stored);
    } else if (stopped_) {
      return {};
    }
    ASSIGN_OR_RETURN(const std::vector<std::string> ips, leases_->ListLeases(ctx));
    // The lease was renewed a moment ago, so none at all is an error; unless this is the last
    // server, which stops.
    if (!stopped_ && ips.empty()) {
      return {Reason::kInternalError,
              "no API server IP addresses were listed in storage, refusing to erase all endpoints "
              "for the kubernetes Service"};
    }
    const bool label_changed = SetSkipMirror(endpoints);
    const Correct correct = Check(endpoints, ips, server, reconcile_ports);
    if (!label_changed && correct.all()) return adapter.EnsureEndpointSlice(ctx, endpoints);
    Reset(correct, ips, server, endpoints);
    TellReset(log_, endpoints);
    if (!missing) return adapter.Update(ctx, endpoints);
    const Status made = adapter.Create(ctx, endpoints);
    return made.reason() == Reason::kAlreadyExists ? Status() : made;
  }

  static Correct Check(const Endpoints& endpoints, const std::vector<std::string>& ips,
                       const ServerEndpoint& server, bool reconcile_ports) {
    if (endpoints.subsets.size() != 1) return {};
    const EndpointSubset& subset = endpoints.subsets.front();
    const std::set<std::string> wanted(ips.begin(), ips.end());
    const std::set<std::string> present(subset.addresses.begin(), subset.addresses.end());
    return {.format = true,
            .ips = subset.addresses.size() == ips.size() && present == wanted,
            .ports = PortsCorrect(subset, server, reconcile_ports)};
  }

  static void Reset(const Correct& correct, const std::vector<std::string>& ips,
                    const ServerEndpoint& server, Endpoints& endpoints) {
    if (!correct.format) endpoints.subsets = {{.ports = server.ports}};
    if (!correct.format || !correct.ips) {
      endpoints.subsets.front().addresses = ips;
      Repack(endpoints);
    }
    if (!endpoints.subsets.empty() && !correct.ports) {
      endpoints.subsets.front().ports = server.ports;
    }
  }

  const std::unique_ptr<MasterLeases> leases_;
  LogSink& log_;
  bool stopped_ = false;
};

}  // namespace

std::unique_ptr<EndpointReconciler> NewLeaseEndpointReconciler(std::unique_ptr<MasterLeases> leases,
                                                               LogSink& log) {
  return std::make_unique<LeaseReconciler>(std::move(leases), log);
}

}  // namespace apiserver::v0::controlplane
