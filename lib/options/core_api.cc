#include "apiserver/options/core_api.h"

#include <array>
#include <chrono>
#include <functional>
#include <set>
#include <string_view>
#include <utility>

#include "apiserver/admission/namespace_lifecycle.h"
#include "apiserver/base/context.h"
#include "apiserver/base/log.h"
#include "apiserver/codec/json.h"
#include "apiserver/delegation/cluster_client.h"
#include "apiserver/runtime/arena.h"
#include "base/status_macros.h"

namespace apiserver::v0::options {

namespace {

constexpr char kFlag[] = "--kubeconfig";
constexpr std::chrono::seconds kPatience(30);
// The interval at which the hook checks if the server stops before it has started.
constexpr std::chrono::milliseconds kSyncStep(200);

// The objects of the cluster that a plugin obeys.
struct Obeyed {
  const char* plugin;
  const char* resource;
};
constexpr std::array kObeyed = {
    Obeyed{"MutatingAdmissionPolicy", "mutatingadmissionpolicies"},
    Obeyed{"MutatingAdmissionWebhook", "mutatingwebhookconfigurations"},
    Obeyed{"ValidatingAdmissionPolicy", "validatingadmissionpolicies"},
    Obeyed{"ValidatingAdmissionWebhook", "validatingwebhookconfigurations"}};

// Returns the names of the resources of a group version. Empty: the cluster has no such version.
Result<std::set<std::string>> ServedAt(client::Client& cluster, const std::string& path) {
  const Context ctx = Context::Child(Context::Background(), RealClock().Now() + kPatience);
  ASSIGN_OR_RETURN(const http::ClientResponse answer, cluster.Call(ctx, {.target = path}));
  std::set<std::string> names;
  if (answer.code == 404) return names;
  if (answer.code != 200) {
    return Status(Reason::kServiceUnavailable,
                  "the cluster answered " + std::to_string(answer.code) + " for " + path);
  }
  runtime::Arena arena;
  ASSIGN_OR_RETURN(const runtime::Value list, codec::ParseJson(answer.body, arena));
  for (const runtime::Value each : list["resources"].items()) {
    names.emplace(each["name"].AsString());
  }
  return names;
}

Status Named(const Status& status) {
  return status.WithMessage(std::string(kFlag) + ": " + std::string(status.message()));
}

// Leaves out the plugins whose objects the cluster does not serve: they would wait for them.
Status ChoosePlugins(client::Client& cluster, AdmissionOptions& admission, LogSink& log) {
  ASSIGN_OR_RETURN(const auto served, ServedAt(cluster, "/apis/admissionregistration.k8s.io/v1"));
  for (const Obeyed& each : kObeyed) {
    if (served.contains(each.resource)) continue;
    admission.unavailable.insert(each.plugin);
    Log(log, LogLevel::kInfo, "the cluster does not serve what an admission plugin obeys",
        {{"plugin", each.plugin}, {"resource", each.resource}});
  }
  return {};
}

// A thing that follows the cluster.
struct Follower {
  std::function<void()> start;
  std::function<bool()> wait;  // Waits for a step. False: it is not in sync yet.
  std::function<void()> stop;
};

// Adds a source if there is one.
template <class Source>
void Add(const std::shared_ptr<Source>& source, const std::shared_ptr<client::Client>& client,
         std::vector<Follower>& followers) {
  if (!source) return;
  followers.push_back({.start = [source, client] { source->Start(client); },
                       .wait = [source] { return source->WaitForSync(kSyncStep); },
                       .stop = [source] { source->Stop(); }});
}

// Runs on the hook's thread: the server is ready once all is known.
Status StartAll(const std::vector<Follower>& followers, const Context& ctx) {
  for (const Follower& each : followers) each.start();
  for (const Follower& each : followers) {
    while (!each.wait()) RETURN_IF_ERROR(ctx.Err());
  }
  return {};
}

}  // namespace

void CoreApiOptions::AddFlags(FlagSet& flags) {
  if (!wanted) return;
  flags.BeginSection("Admission");
  flags.Add({.name = kFlag,
             .value = &kubeconfig_file,
             .help = "Kubeconfig of the cluster whose namespaces, webhook configurations and "
                     "policies are obeyed behind its aggregator (default: the pod's cluster; "
                     "outside of a pod none)"});
}

std::vector<std::string> CoreApiOptions::Validate(bool standalone) const {
  if (!standalone || kubeconfig_file.empty()) return {};
  return {std::string(kFlag) +
          " names the cluster of a server behind an aggregator: leave it out, or add "
          "--no-standalone"};
}

Result<CoreApi> CoreApiOptions::ApplyTo(AdmissionOptions& admission,
                                        const Environment& environment) const {
  CoreApi made;
  if (!wanted || environment.standalone) return made;
  if (kubeconfig_file.empty() && !environment.in_cluster) return made;
  ASSIGN_OR_RETURN(const auto config, ClusterConfig(kFlag, kubeconfig_file, environment));
  made.dialer = http::NewDialer();
  auto client = delegation::NewClusterClient(config, *made.dialer, *environment.files,
                                             {.log = environment.log});
  if (!client.ok()) return Named(client.status());
  made.client = *std::move(client);
  if (Status chosen = ChoosePlugins(*made.client, admission, *environment.log); !chosen.ok()) {
    return Named(chosen);
  }
  const auto core = ServedAt(*made.client, "/api/v1");
  if (!core.ok()) return Named(core.status());
  if (!core->contains("namespaces")) return made;
  made.namespaces = std::make_shared<admission::InformedNamespaces>(*environment.log);
  admission.namespaces = made.namespaces;
  admission.first.push_back(admission::NewNamespaceLifecycle({.namespaces = made.namespaces}));
  return made;
}

std::vector<runtime::GroupResource> FollowedResources() {
  std::vector<runtime::GroupResource> all = {{"", "namespaces"}};
  for (const char* resource :
       {"mutatingadmissionpolicies", "mutatingadmissionpolicybindings",
        "mutatingwebhookconfigurations", "validatingadmissionpolicies",
        "validatingadmissionpolicybindings", "validatingwebhookconfigurations"}) {
    all.push_back({"admissionregistration.k8s.io", resource});
  }
  return all;
}

Status FollowCluster(server::GenericAPIServer& server, const CoreApi& cluster,
                     const Admission& admission) {
  std::vector<Follower> followers;
  Add(cluster.namespaces, cluster.client, followers);
  Add(admission.mutating, cluster.client, followers);
  Add(admission.validating, cluster.client, followers);
  Add(admission.mutating_policies, cluster.client, followers);
  Add(admission.validating_policies, cluster.client, followers);
  const char* const name = "follow-cluster-admission";
  const auto start = [followers](const server::HookContext& hook) {
    return StartAll(followers, hook.ctx);
  };
  RETURN_IF_ERROR(server.AddPostStartHook(name, start));
  return server.AddPreShutdownHook(name, [followers](const server::HookContext&) {
    for (const Follower& each : followers) each.stop();
    return Status();
  });
}

}  // namespace apiserver::v0::options
