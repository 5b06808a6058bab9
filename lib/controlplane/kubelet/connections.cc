#include "apiserver/controlplane/connections.h"

#include <algorithm>
#include <string>
#include <utility>

#include "apiserver/groups/core_options.h"
#include "base/status_macros.h"
#include "controlplane/kubelet/access.h"

namespace apiserver::v0::controlplane {
namespace {

using Subresource = std::function<std::shared_ptr<rest::Storage>()>;

// Returns a function that counts codes. It keeps the registry: a translation may end after its
// server.
CountCode CounterOf(const std::shared_ptr<metrics::Registry>& registry, std::string name,
                    std::string help) {
  auto& family =
      registry->Counters({.name = std::move(name), .help = std::move(help), .labels = {"code"}});
  return [registry, &family](int code) { family.With({std::to_string(code)}).Add(); };
}

void CountLogs(Access& access, const std::shared_ptr<metrics::Registry>& registry) {
  auto& usage = registry->Counters(
      {.name = "kube_apiserver_pod_logs_insecure_backend_total",
       .help = "Requests for logs of pods, by whether the kubelet's certificate was verified.",
       .labels = {"usage"}});
  auto& failures = registry->Counters(
      {.name = "kube_apiserver_pod_logs_backend_tls_failure_total",
       .help = "Requests for logs of pods whose kubelet's certificate was not trusted."});
  access.count_log = [registry, &usage](bool skips) {
    usage.With({skips ? "skip_tls_allowed" : "enforce_tls"}).Add();
  };
  access.count_log_tls_failure = [registry, &failures] { failures.With({}).Add(); };
}

// A shutdown waits for upgraded connections, which would last as long as its grace.
Status CloseAtShutdown(server::GenericAPIServer& server, std::shared_ptr<proxy::Pipes> pipes) {
  const auto registration = std::make_shared<Context::Registration>();
  return server.AddPostStartHook(
      "follow-shutdown-of-streams",
      [pipes = std::move(pipes), registration](const server::HookContext& hook) -> Status {
        *registration = hook.ctx.OnDone([pipes] { pipes->CloseAll(); });
        return {};
      });
}

// Finds the kinds by their names, and adds them to the scheme.
Result<OptionKinds> AddKinds(runtime::Scheme& scheme) {
  OptionKinds kinds;
  const std::pair<const char*, runtime::KindPtr*> places[] = {
      {"PodExecOptions", &kinds.exec},
      {"PodAttachOptions", &kinds.attach},
      {"PodPortForwardOptions", &kinds.port_forward},
      {"PodLogOptions", &kinds.log},
      {"PodProxyOptions", &kinds.pod_proxy},
      {"ServiceProxyOptions", &kinds.service_proxy},
      {"NodeProxyOptions", &kinds.node_proxy}};
  ASSIGN_OR_RETURN(const auto made, groups::core::OptionKinds());
  for (const runtime::KindPtr& kind : made) {
    for (const auto& [name, place] : places) {
      if (kind->kind() == name) *place = kind;
    }
    RETURN_IF_ERROR(scheme.Add(kind));
  }
  return kinds;
}

class Reaching final : public Connections {
 public:
  explicit Reaching(AccessPtr access) : access_(std::move(access)) {}

  void AddTo(std::vector<server::Resource>& resources) override {
    for (server::Resource& resource : resources) {
      if (resource.kind == nullptr || !resource.kind->group().empty()) continue;
      const std::string& name = resource.kind->kind();
      if (name == "Pod") AddToPods(resource);
      if (name == "Service") {
        Add(resource, "proxy", [access = access_] { return NewServiceProxy(access); });
      }
      if (name == "Node") {
        Add(resource, "proxy", [access = access_] { return NewNodeProxy(access); });
      }
    }
  }

  void Use(const std::vector<std::shared_ptr<registry::Store>>& stores) override {
    auto known = access_->stores.Lock();
    for (const auto& store : stores) {
      const runtime::GroupResource resource = store->New()->kind().group_resource();
      if (!resource.group.empty()) continue;
      if (resource.resource == "pods") known->pods = store;
      if (resource.resource == "nodes") known->nodes = store;
      if (resource.resource == "services") known->services = store;
      if (resource.resource == "endpoints") known->endpoints = store;
    }
  }

 private:
  void AddToPods(server::Resource& pods) {
    Add(pods, "attach", [access = access_] { return NewPodAttach(access); });
    Add(pods, "exec", [access = access_] { return NewPodExec(access); });
    Add(pods, "log", [access = access_, kind = pods.kind] { return NewPodLog(access, kind); });
    Add(pods, "portforward", [access = access_] { return NewPodPortForward(access); });
    Add(pods, "proxy", [access = access_] { return NewPodProxy(access); });
  }
  static void Add(server::Resource& resource, const char* name, Subresource make) {
    resource.subresources[name] = [make = std::move(make)](const std::shared_ptr<registry::Store>&)
        -> Result<std::shared_ptr<rest::Storage>> { return make(); };
  }

  const AccessPtr access_;
};

}  // namespace

Result<std::unique_ptr<Connections>> NewConnections(server::GenericAPIServer& server,
                                                    const ConnectionsOptions& options) {
  if (options.dialer == nullptr) {
    return Status(Reason::kInvalid, "connections to kubelets need a dialer");
  }
  auto access = std::make_shared<Access>();
  ASSIGN_OR_RETURN(access->kinds, AddKinds(server.scheme()));
  access->pipes = options.pipes ? options.pipes : proxy::NewUnlimitedPipes();
  RETURN_IF_ERROR(CloseAtShutdown(server, access->pipes));
  access->max_bytes_per_sec = options.max_connection_bytes_per_sec;
  access->memory = server.memory();
  ASSIGN_OR_RETURN(access->proxy_pool,
                   proxy::NewUpstreamPool({.dialer = options.dialer, .memory = access->memory}));
  // Not the subresources: they have the getter.
  ASSIGN_OR_RETURN(access->kubelets,
                   NewConnectionInfoGetter(
                       options.kubelet,
                       [weak = std::weak_ptr(access)]() -> std::shared_ptr<rest::Getter> {
                         const auto kept = weak.lock();
                         return kept == nullptr ? nullptr : kept->stores.Lock()->nodes.lock();
                       },
                       {.dialer = options.dialer,
                        .executor = &server.pool(),
                        .files = options.files,
                        .log = options.log,
                        .memory = access->memory}));
  const auto registry = server.metrics();
  access->count_translation =
      CounterOf(registry, "apiserver_stream_translator_requests_total",
                "Requests that were handled by the stream translator, by their codes.");
  access->count_tunnel =
      CounterOf(registry, "apiserver_stream_tunnel_requests_total",
                "Requests that were handled by the stream tunnel, by their codes.");
  CountLogs(*access, registry);
  return std::unique_ptr<Connections>(std::make_unique<Reaching>(std::move(access)));
}

}  // namespace apiserver::v0::controlplane
