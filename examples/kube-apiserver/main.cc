// kube-apiserver: a server that clients take for that of a cluster: namespaces, roles, service
// accounts, admission webhooks and policies, CustomResourceDefinitions, and extension servers
// behind an aggregator, on the embedded store or on etcd. What runs pods is not here.

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "accounts.h"
#include "aggregation.h"
#include "apiserver/admission/namespace_lifecycle.h"
#include "apiserver/apiextensions/apiextensions.h"
#include "apiserver/base/status_macros.h"
#include "apiserver/controlplane/api_enablement.h"
#include "apiserver/program/run_standalone.h"
#include "cluster.h"
#include "core.h"

namespace {

using apiserver::Status;
namespace apiextensions = apiserver::apiextensions;
namespace controlplane = apiserver::controlplane;

// Serves CustomResourceDefinitions. Null: they are disabled, and nothing is defined.
apiserver::Result<std::unique_ptr<apiextensions::CustomResources>> InstallDefinitions(
    apiserver::server::GenericAPIServer& server,
    const apiserver::registry::StorageConfig& storage) {
  if (!server.ResourceEnabled({"apiextensions.k8s.io", "v1", "customresourcedefinitions"})) {
    return std::unique_ptr<apiextensions::CustomResources>();
  }
  return apiextensions::Install(server, storage);
}

// Adds an error to the lines about the flags.
void Add(const Status& status, std::vector<std::string>& problems) {
  if (!status.ok()) problems.emplace_back(status.message());
}

}  // namespace

int main(int argc, char** argv) {
  const auto namespaces = std::make_shared<apiserver::admission::InformedNamespaces>();
  const auto tokens = std::make_shared<apiserver::groups::TokenObjects>();
  kube::Accounts accounts(tokens);
  const auto dialer = apiserver::http::NewDialer();
  apiserver::controlplane::ConnectionsOptions connections{.dialer = dialer.get()};
  std::chrono::milliseconds event_ttl = std::chrono::hours(1);
  apiserver::options::APIEnablementOptions enablement;
  kube::Cluster cluster;
  kube::Aggregation aggregation;
  const auto install = [&](auto& server, const auto& storage) -> Status {
    APISERVER_RETURN_IF_ERROR(kube::InstallCore(server, {.storage = storage,
                                                         .namespaces = namespaces,
                                                         .tokens = tokens,
                                                         .token_requests = accounts.requests(),
                                                         .connections = connections,
                                                         .event_ttl = event_ttl}));
    APISERVER_RETURN_IF_ERROR(cluster.Install(server, storage));
    APISERVER_ASSIGN_OR_RETURN(auto definitions, InstallDefinitions(server, storage));
    return aggregation.Install(server, storage, std::move(definitions));
  };
  return apiserver::program::RunStandalone(
      argc, argv,
      {.name = "kube-apiserver",
       .description = "A Kubernetes-style API server with CustomResourceDefinitions",
       .version = "0.1",
       .openapi_title = "Kubernetes",
       .admission = {apiserver::admission::NewNamespaceLifecycle({.namespaces = namespaces})},
       .namespaces = namespaces,
       .suggestions = {"get namespaces", "create -f examples/crd-resource/pets.yaml", "get crds"},
       .add_flags =
           [&](auto& flags) {
             enablement.AddFlags(flags);
             cluster.AddFlags(flags);
             accounts.AddFlags(flags);
             aggregation.AddFlags(flags);
             connections.AddFlags(flags);
             flags.BeginSection("Misc");
             flags.Add({.name = "--event-ttl",
                        .value = &event_ttl,
                        .help = "How long an event is kept after its last change; 0: for ever",
                        .show_default = true});
           },
       .validate =
           [&](const auto& options) {
             std::vector<std::string> problems = cluster.Validate();
             // A start completes it, which this must not.
             apiserver::options::APIEnablementOptions enabled = enablement;
             Add(controlplane::CompleteAPIEnablement(enabled,
                                                     options.features.enable_priority_and_fairness),
                 problems);
             Add(aggregation.Validate(), problems);
             Add(connections.kubelet.Validate(), problems);
             for (auto& each : accounts.Validate(options)) problems.push_back(std::move(each));
             return problems;
           },
       .tokens = tokens,
       .open =
           [&](const std::string& folder) {
             accounts.Open(folder);
             return aggregation.Open(folder);
           },
       .complete =
           [&](auto& options) {
             APISERVER_RETURN_IF_ERROR(controlplane::CompleteAPIEnablement(
                 enablement, options.features.enable_priority_and_fairness));
             APISERVER_RETURN_IF_ERROR(cluster.Complete(options));
             aggregation.Complete(options);
             return accounts.Complete(options);
           },
       .configure =
           [&](apiserver::server::Config& config) {
             config.index_of_unknown_paths = false;
             cluster.Configure(config);
             aggregation.Configure(config);
             return enablement.ApplyTo(config, controlplane::DefaultAPIResourceConfigSource());
           },
       .install = install});
}
