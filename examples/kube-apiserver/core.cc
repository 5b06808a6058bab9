#include "core.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apiserver/base/status_macros.h"
#include "apiserver/client/client.h"
#include "apiserver/groups/coordination.h"
#include "apiserver/groups/core.h"
#include "apiserver/groups/discovery.h"
#include "apiserver/rest/strategy.h"
#include "apiserver/server/install.h"

namespace kube {

namespace {

using apiserver::Context;
using apiserver::Result;
using apiserver::Status;
using apiserver::field::ErrorList;
using apiserver::runtime::KindPtr;
using apiserver::runtime::Object;
namespace admission = apiserver::admission;
namespace groups = apiserver::groups;
namespace registry = apiserver::registry;
namespace rest = apiserver::rest;
namespace server = apiserver::server;

constexpr std::chrono::milliseconds kSyncStep(50);

// The strategy of kinds without a generation. Everything is valid.
class Plain final : public rest::Strategy {
 public:
  explicit Plain(bool namespaced) : namespaced_(namespaced) {}
  bool NamespaceScoped() const override { return namespaced_; }
  bool AllowUnconditionalUpdate() const override { return true; }
  ErrorList Validate(const Context&, const Object&) const override { return {}; }

 private:
  bool namespaced_;
};

// Returns where a kube-apiserver keeps a resource that is installed here: it may have been the one
// that used this etcd before.
std::string ResourcePrefix(const apiserver::runtime::GroupResource& resource) {
  if (resource.resource == "services") return "services/specs";
  if (resource.resource == "endpoints") return "services/endpoints";
  return resource.resource == "nodes" ? "minions" : resource.resource;
}

// Adds the kinds named, of those given, unless the server knows them.
Status Choose(const Result<std::vector<KindPtr>>& kinds, const std::vector<std::string>& names,
              server::GenericAPIServer& api, std::vector<server::Resource>& resources) {
  APISERVER_RETURN_IF_ERROR(kinds.status());
  const auto known = api.scheme().snapshot()->kinds();
  for (const KindPtr& kind : *kinds) {
    const bool wanted = std::find(names.begin(), names.end(), kind->kind()) != names.end();
    const bool there = std::any_of(known.begin(), known.end(), [&](const KindPtr& other) {
      return other->group_kind() == kind->group_kind();
    });
    if (!wanted || there) continue;
    server::Resource resource{.kind = kind,
                              .strategy = std::make_shared<Plain>(kind->namespaced())};
    // Kubernetes validates these kinds by code, and not by their schemas.
    resource.configure = [](registry::StoreOptions& store) { store.validate_schema = false; };
    resources.push_back(std::move(resource));
  }
  return {};
}

// Lets events expire, as in a kube-apiserver. Zero: they are kept for ever.
void ExpireEvents(std::vector<server::Resource>& resources, std::chrono::milliseconds ttl) {
  if (ttl.count() <= 0) return;
  for (server::Resource& resource : resources) {
    if (resource.kind->kind() != "Event") continue;
    resource.configure =
        [built_in = std::move(resource.configure),
         seconds = std::chrono::ceil<std::chrono::seconds>(ttl)](registry::StoreOptions& store) {
          built_in(store);
          store.ttl = [seconds](const Object&, bool) { return std::optional(seconds); };
        };
  }
}

// Serves service accounts, with their tokens, and secrets.
Status InstallAccounts(server::GenericAPIServer& api, const CoreOptions& options) {
  groups::core::Options core{.storage = options.storage, .tokens = options.tokens};
  core.account_subresources["token"] =
      [requests = options.token_requests](std::shared_ptr<registry::Store> accounts) {
        return apiserver::controlplane::NewTokenRequests(std::move(accounts), requests);
      };
  return groups::core::Install(api, core);
}

// Runs on the hook's thread: the server is ready once its namespaces are known.
Status Follow(const server::HookContext& hook, admission::InformedNamespaces& namespaces) {
  namespaces.Start(apiserver::client::NewClient(hook.server.LoopbackConnection()));
  while (!namespaces.WaitForSync(kSyncStep)) APISERVER_RETURN_IF_ERROR(hook.ctx.Err());
  return {};
}

}  // namespace

Status InstallCore(server::GenericAPIServer& api, const CoreOptions& options) {
  const registry::StorageConfig& storage = options.storage;
  const std::shared_ptr<admission::InformedNamespaces>& namespaces = options.namespaces;
  APISERVER_RETURN_IF_ERROR(InstallAccounts(api, options));
  APISERVER_ASSIGN_OR_RETURN(std::vector<server::Resource> resources,
                             groups::core::ClusterResources(*storage.clock));
  ExpireEvents(resources, options.event_ttl);
  APISERVER_RETURN_IF_ERROR(Choose(groups::core::Kinds(), {"Service"}, api, resources));
  for (auto further : {groups::coordination::Resources(*storage.clock),
                       groups::discovery::Resources(*storage.clock)}) {
    APISERVER_RETURN_IF_ERROR(further.status());
    for (server::Resource& resource : *further) resources.push_back(std::move(resource));
  }
  registry::StorageConfig as_upstream = storage;
  as_upstream.resource_prefix = &ResourcePrefix;
  APISERVER_ASSIGN_OR_RETURN(const auto connections,
                             apiserver::controlplane::NewConnections(api, options.connections));
  connections->AddTo(resources);
  APISERVER_ASSIGN_OR_RETURN(const auto stores,
                             server::InstallKinds(api, as_upstream, std::move(resources)));
  connections->Use(stores);
  options.tokens->Use(stores);
  const auto follow = [namespaces](const server::HookContext& hook) {
    return Follow(hook, *namespaces);
  };
  APISERVER_RETURN_IF_ERROR(api.AddPostStartHook("follow-namespaces", follow));
  return api.AddPreShutdownHook("follow-namespaces", [namespaces](const auto&) {
    namespaces->Stop();
    return Status();
  });
}

}  // namespace kube
