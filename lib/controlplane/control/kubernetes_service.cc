#include "apiserver/controlplane/kubernetes_service.h"

#include <memory>
#include <utility>

#include "apiserver/base/clock.h"
#include "apiserver/client/client.h"
#include "base/status_macros.h"
#include "controlplane/control/endpoint_reconciler.h"
#include "controlplane/control/hooks.h"
#include "controlplane/control/objects.h"

namespace apiserver::v0::controlplane {
namespace {

using runtime::Value;
using std::chrono::milliseconds;

constexpr char kServiceName[] = "kubernetes";
constexpr char kPortName[] = "https";
constexpr int kOk = 200;

client::Target ServiceTarget(std::string name = "") {
  return {.resource = {"", "v1", "services"}, .namespace_ = "default", .name = std::move(name)};
}

// Others keep the endpoints.
class NoneReconciler final : public EndpointReconciler {
 public:
  Status ReconcileEndpoints(const Context&, client::Client&, const ServerEndpoint&, bool) override {
    return {};
  }
  Status RemoveEndpoints(const Context&, client::Client&, const ServerEndpoint&) override {
    return {};
  }
  void StopReconciling() override {}
};

std::unique_ptr<EndpointReconciler> NewReconciler(const KubernetesServiceOptions& options) {
  switch (options.reconciler) {
    case EndpointReconcilerType::kLease:
      return NewLeaseEndpointReconciler(
          NewMasterLeases(options.storage, options.endpoints, options.lease_lifetime),
          *options.log);
    case EndpointReconcilerType::kMasterCount:
      return NewMasterCountEndpointReconciler(options.apiserver_count, *options.log);
    case EndpointReconcilerType::kNone:
      break;
  }
  return std::make_unique<NoneReconciler>();
}

// Used by one step at a time.
class ServiceController {
 public:
  explicit ServiceController(KubernetesServiceOptions options)
      : options_(std::move(options)), reconciler_(NewReconciler(options_)) {}

  void Begin(int port) {
    if (options_.public_port == 0) options_.public_port = port;
    server_ = {.service_name = kServiceName,
               .ip = options_.advertise_address,
               .ports = {{.name = kPortName, .port = options_.public_port}}};
  }

  milliseconds Step(const Context& ctx, client::Client& api) {
    if (!std::exchange(cleaned_, true)) RemoveStale(ctx, api);
    // The address is only shown to others once requests to it are answered.
    if (!ready_) {
      const auto answer = api.Call(ctx, {.target = "/readyz"});
      ready_ = answer.ok() && answer->code == kOk;
      if (!ready_) return options_.ready_period;
    }
    const Status synced = Sync(ctx, api);
    if (!synced.ok() && !ctx.done()) Tell("unable to sync kubernetes service", synced);
    return options_.period;
  }

  // Does not hold up a stop for longer than two periods.
  void Stop(client::Client& api) {
    const Context ctx =
        Context::Child(Context::Background(), RealClock().Now() + 2 * options_.period);
    reconciler_->StopReconciling();
    const Status removed = reconciler_->RemoveEndpoints(ctx, api, server_);
    if (!removed.ok() && removed.reason() != Reason::kNotFound) {
      Tell("Unable to remove endpoints from kubernetes service", removed);
    }
  }

 private:
  void Tell(const char* what, const Status& why) const {
    Log(*options_.log, LogLevel::kError, what, {{"err", std::string(why.message())}});
  }

  void RemoveStale(const Context& ctx, client::Client& api) {
    const Status removed = reconciler_->RemoveEndpoints(ctx, api, server_);
    if (removed.reason() == Reason::kNotFound) return;
    if (!removed.ok()) return Tell("Error removing old endpoints from kubernetes service", removed);
    if (options_.reconciler != EndpointReconcilerType::kLease) return;
    Log(*options_.log, LogLevel::kWarning,
        "Found stale data, removed previous endpoints on kubernetes service, apiserver didn't exit "
        "successfully previously",
        {});
  }

  Status Sync(const Context& ctx, client::Client& api) {
    RETURN_IF_ERROR(CreateServiceIfNeeded(ctx, api));
    return reconciler_->ReconcileEndpoints(ctx, api, server_, /*reconcile_ports=*/false);
  }

  // A Service that is there stays as it is.
  Status CreateServiceIfNeeded(const Context& ctx, client::Client& api) const {
    Status found = api.Get(ctx, ServiceTarget(kServiceName)).status();
    if (found.reason() != Reason::kNotFound) return found;
    Status made = api.Create(ctx, ServiceTarget(), *NewService()).status();
    return made.reason() == Reason::kAlreadyExists ? Status() : made;
  }

  std::unique_ptr<runtime::Object> NewService() const {
    auto service = NewObject({"", "v1", "Service"}, "default", kServiceName);
    service->Edit("metadata", "labels", "component") = "apiserver";
    service->Edit("metadata", "labels", "provider") = "kubernetes";
    runtime::MapBuilder port(service->arena());
    port.Add("name", Value::String(kPortName));
    port.Add("protocol", Value::String("TCP"));
    port.Add("port", Value::Int(options_.service_port));
    port.Add("targetPort", Value::Int(options_.public_port));
    if (options_.node_port > 0) port.Add("nodePort", Value::Int(options_.node_port));
    runtime::ListBuilder ports(service->arena());
    ports.Add(port.Build());
    service->Edit("spec", "ports") = ports.Build();
    service->Edit("spec", "clusterIP") = options_.service_ip;
    service->Edit("spec", "ipFamilyPolicy") = "SingleStack";
    service->Edit("spec", "sessionAffinity") = "None";
    service->Edit("spec", "type") = options_.node_port > 0 ? "NodePort" : "ClusterIP";
    return service;
  }

  KubernetesServiceOptions options_;
  const std::unique_ptr<EndpointReconciler> reconciler_;
  ServerEndpoint server_;
  bool cleaned_ = false;
  bool ready_ = false;
};

Status Check(const KubernetesServiceOptions& options) {
  if (options.service_ip.empty()) {
    return {Reason::kInvalid, "KubernetesServiceOptions need service_ip"};
  }
  if (options.reconciler == EndpointReconcilerType::kNone) return {};
  if (options.advertise_address.empty()) {
    return {Reason::kInvalid, "KubernetesServiceOptions need advertise_address"};
  }
  if (options.reconciler == EndpointReconcilerType::kLease &&
      (options.storage.engine == nullptr || !options.endpoints)) {
    return {Reason::kInvalid, "KubernetesServiceOptions need storage and endpoints"};
  }
  return {};
}

}  // namespace

Status AddKubernetesService(server::GenericAPIServer& server, KubernetesServiceOptions options) {
  RETURN_IF_ERROR(Check(options));
  const auto controller = std::make_shared<ServiceController>(std::move(options));
  return AddController(
      server,
      {.start_hook = "bootstrap-controller",
       .stop_hook = "stop-kubernetes-service-controller",
       .begin = [controller](server::GenericAPIServer& api) { controller->Begin(api.port()); },
       .step = [controller](const Context& ctx,
                            client::Client& api) { return controller->Step(ctx, api); },
       .stop = [controller](client::Client& api) { controller->Stop(api); }});
}

}  // namespace apiserver::v0::controlplane
