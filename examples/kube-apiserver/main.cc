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
#include "examination.h"

namespace {

using apiserver::Status;
using apiserver::options::RecommendedOptions;
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

// The parts of the server that have flags of their own.
struct Parts {
  explicit Parts(std::shared_ptr<const apiserver::groups::TokenObjects> tokens)
      : accounts(std::move(tokens)) {}

  void AddFlags(apiserver::options::FlagSet& flags);
  // Returns a line for each mistake in the flags.
  std::vector<std::string> Validate(const RecommendedOptions& options) const;
  // Looks at the files that the flags name.
  std::vector<apiserver::delegation::Finding> Examine(const RecommendedOptions& options) const;

  kube::Accounts accounts;
  const std::unique_ptr<apiserver::http::Dialer> dialer = apiserver::http::NewDialer();
  controlplane::ConnectionsOptions connections{.dialer = dialer.get()};
  std::chrono::milliseconds event_ttl = std::chrono::hours(1);
  apiserver::options::APIEnablementOptions enablement;
  kube::Cluster cluster;
  kube::Aggregation aggregation;
};

void Parts::AddFlags(apiserver::options::FlagSet& flags) {
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
}

std::vector<std::string> Parts::Validate(const RecommendedOptions& options) const {
  std::vector<std::string> problems = cluster.Validate();
  for (std::string& each : accounts.Validate(options)) problems.push_back(std::move(each));
  // A start completes it, which this must not.
  apiserver::options::APIEnablementOptions completed = enablement;
  for (const Status& status : {controlplane::CompleteAPIEnablement(
                                   completed, options.features.enable_priority_and_fairness),
                               aggregation.Validate(), connections.kubelet.Validate()}) {
    if (!status.ok()) problems.emplace_back(status.message());
  }
  return problems;
}

std::vector<apiserver::delegation::Finding> Parts::Examine(
    const RecommendedOptions& options) const {
  std::vector<apiserver::delegation::Finding> findings;
  accounts.Examine(options, findings);
  aggregation.Examine(findings);
  const controlplane::KubeletOptions& kubelet = connections.kubelet;
  kube::ExamineClientFiles("kubelet-client-certificate",
                           {.certificate = kubelet.client_certificate, .key = kubelet.client_key},
                           findings);
  kube::ExamineClientFiles("kubelet-certificate-authority",
                           {.authorities = kubelet.certificate_authority}, findings);
  return findings;
}

}  // namespace

int main(int argc, char** argv) {
  const auto namespaces = std::make_shared<apiserver::admission::InformedNamespaces>();
  const auto tokens = std::make_shared<apiserver::groups::TokenObjects>();
  Parts parts(tokens);
  const auto install = [&](auto& server, const auto& storage) -> Status {
    APISERVER_RETURN_IF_ERROR(
        kube::InstallCore(server, {.storage = storage,
                                   .namespaces = namespaces,
                                   .tokens = tokens,
                                   .token_requests = parts.accounts.requests(),
                                   .connections = parts.connections,
                                   .event_ttl = parts.event_ttl}));
    APISERVER_RETURN_IF_ERROR(parts.cluster.Install(server, storage));
    APISERVER_ASSIGN_OR_RETURN(auto definitions, InstallDefinitions(server, storage));
    return parts.aggregation.Install(server, storage, std::move(definitions));
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
       .add_flags = [&](auto& flags) { parts.AddFlags(flags); },
       .validate = [&](const auto& options) { return parts.Validate(options); },
       .examine = [&](const auto& options) { return parts.Examine(options); },
       .tokens = tokens,
       .open =
           [&](const std::string& folder) {
             parts.accounts.Open(folder);
             return parts.aggregation.Open(folder);
           },
       .complete =
           [&](auto& options) {
             APISERVER_RETURN_IF_ERROR(controlplane::CompleteAPIEnablement(
                 parts.enablement, options.features.enable_priority_and_fairness));
             APISERVER_RETURN_IF_ERROR(parts.cluster.Complete(options));
             parts.aggregation.Complete(options);
             return parts.accounts.Complete(options);
           },
       .configure =
           [&](apiserver::server::Config& config) {
             config.index_of_unknown_paths = false;
             parts.cluster.Configure(config);
             parts.aggregation.Configure(config);
             return parts.enablement.ApplyTo(config,
                                             controlplane::DefaultAPIResourceConfigSource());
           },
       .install = install});
}
