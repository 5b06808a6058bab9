#include "controlplane/control/endpoint_reconciler.h"

#include <algorithm>

#include "base/status_macros.h"
#include "controlplane/control/endpoint_checks.h"

namespace apiserver::v0::controlplane {
namespace {

class MasterCountReconciler final : public EndpointReconciler {
 public:
  MasterCountReconciler(std::size_t count, LogSink& log) : count_(count), log_(log) {}

  Status ReconcileEndpoints(const Context& ctx, client::Client& api, const ServerEndpoint& server,
                            bool reconcile_ports) override {
    if (stopped_) return {};
    EndpointsAdapter adapter(api);
    const EndpointSubset own{.addresses = {server.ip}, .ports = server.ports};
    Result<Endpoints> stored = adapter.Get(ctx, server.service_name);
    if (stored.status().reason() == Reason::kNotFound) {
      return adapter.Create(ctx,
                            {.name = server.service_name, .skip_mirror = true, .subsets = {own}});
    }
    RETURN_IF_ERROR(stored.status());
    Endpoints& endpoints = *stored;
    const bool label_changed = SetSkipMirror(endpoints);
    const Correct correct = Check(endpoints, server, reconcile_ports);
    if (!label_changed && correct.all()) return adapter.EnsureEndpointSlice(ctx, endpoints);
    if (!correct.format) {
      endpoints.subsets = {own};
    } else {
      if (!correct.ips) Add(server.ip, endpoints);
      if (!correct.ports) endpoints.subsets.front().ports = server.ports;
    }
    TellReset(log_, endpoints);
    return adapter.Update(ctx, endpoints);
  }

  Status RemoveEndpoints(const Context& ctx, client::Client& api,
                         const ServerEndpoint& server) override {
    EndpointsAdapter adapter(api);
    Result<Endpoints> stored = adapter.Get(ctx, server.service_name);
    if (stored.status().reason() == Reason::kNotFound) return {};
    RETURN_IF_ERROR(stored.status());
    if (stored->subsets.empty()) return {};
    std::erase(stored->subsets.front().addresses, server.ip);
    Repack(*stored);
    return adapter.Update(ctx, *stored);
  }
  void StopReconciling() override { stopped_ = true; }

 private:
  Correct Check(const Endpoints& endpoints, const ServerEndpoint& server,
                bool reconcile_ports) const {
    if (endpoints.subsets.size() != 1) return {};
    const EndpointSubset& subset = endpoints.subsets.front();
    const bool present = std::ranges::find(subset.addresses, server.ip) != subset.addresses.end();
    return {.format = true,
            .ips = present && subset.addresses.size() <= count_,
            .ports = PortsCorrect(subset, server, reconcile_ports)};
  }

  // Too many addresses: those go that follow the server's own, which in the end leaves the right
  // ones if every server does so.
  void Add(const std::string& ip, Endpoints& endpoints) const {
    std::vector<std::string>& addresses = endpoints.subsets.front().addresses;
    addresses.push_back(ip);
    Repack(endpoints);
    while (addresses.size() > count_) {
      const auto own = std::ranges::find(addresses, ip);
      const auto next = own + 1;
      addresses.erase(next == addresses.end() ? addresses.begin() : next);
    }
  }

  const std::size_t count_;
  LogSink& log_;
  bool stopped_ = false;
};

}  // namespace

std::unique_ptr<EndpointReconciler> NewMasterCountEndpointReconciler(std::size_t count,
                                                                     LogSink& log) {
  return std::make_unique<MasterCountReconciler>(count, log);
}

}  // namespace apiserver::v0::controlplane
