#include <chrono>
#include <map>
#include <string>
#include <utility>

#include "apiserver/base/sync.h"
#include "apiserver/groups/rbac.h"
#include "base/status_macros.h"
#include "groups/rbac/escalation.h"
#include "groups/rbac/follower.h"
#include "groups/rbac/reconcile.h"
#include "groups/rbac/strategy.h"

namespace apiserver::v0::groups::rbac {
namespace {

using std::chrono::milliseconds;
using Stores = std::map<std::string, std::shared_ptr<registry::Store>>;  // By resource.

// The number and interval of attempts while the storage does not answer at the start.
constexpr int kStartAttempts = 30;
constexpr milliseconds kStartWait = std::chrono::seconds(1);
// The interval at which the hook checks if the server stops before it has started.
constexpr milliseconds kSyncStep = std::chrono::milliseconds(200);

// The strategies validate in Go's words, so the schema's own validation is off.
Result<Stores> NewStores(const registry::StorageConfig& storage,
                         const std::vector<runtime::KindPtr>& kinds) {
  Stores stores;
  for (const runtime::KindPtr& kind : kinds) {
    const bool role = kind->plural() == "roles" || kind->plural() == "clusterroles";
    registry::StoreOptions options{.kind = kind,
                                   .strategy = role ? NewRoleStrategy(kind->namespaced())
                                                    : NewBindingStrategy(kind->namespaced()),
                                   .validate_schema = false};
    if (!role) options.table_convertor = NewBindingColumns(*storage.clock);
    options.functions_inline = true;
    ASSIGN_OR_RETURN(stores[kind->plural()], registry::NewStore(storage, std::move(options)));
  }
  return stores;
}

// Follows the server's objects from its start to its stop.
class Starter {
 public:
  explicit Starter(Options options) : options_(std::move(options)) {}

  Status Start(const server::HookContext& hook) {
    client_ = client::NewClient(hook.server.LoopbackConnection());
    const bool known =
        hook.server.scheme().snapshot()->FindByResource({"", "namespaces"}) != nullptr;
    namespaces_ = known && hook.server.ResourceEnabled({"", "v1", "namespaces"});
    // The roles are written first, so that the authorizer never starts without them.
    if (options_.bootstrap) RETURN_IF_ERROR(Bootstrap(hook.ctx));
    follower_ = NewFollower(client_, options_.rbac, *options_.log, hook.server.metrics());
    follower_->Start();
    while (!follower_->WaitForSync(kSyncStep)) RETURN_IF_ERROR(hook.ctx.Err());
    return {};
  }

  void Stop() {
    if (follower_) follower_->Stop();
  }

 private:
  // Another server of the same storage may be starting, or the storage may not be ready.
  Status Bootstrap(const Context& ctx) {
    Notification stopping;
    const auto registration = ctx.OnDone([&stopping] { stopping.Notify(); });
    Status status;
    for (int attempt = 0; attempt < kStartAttempts; ++attempt) {
      // The loopback has system:masters, so these writes need no role.
      status = Reconcile(*client_, ctx, namespaces_);
      if (status.ok()) return {};
      Log(*options_.log, LogLevel::kWarning, "rbac: the bootstrap roles could not be written",
          {{"error", status.ToString()}});
      if (stopping.WaitFor(kStartWait)) return ctx.Err();
    }
    return status.WithMessage("unable to initialize roles: " + std::string(status.message()));
  }

  const Options options_;
  bool namespaces_ = false;  // The server serves them.
  std::shared_ptr<client::Client> client_;
  std::unique_ptr<Follower> follower_;
};

Status Check(const Options& options) {
  if (options.rbac != nullptr && options.authorizer != nullptr) return {};
  return {Reason::kInvalid, "groups::rbac::Install: rbac and authorizer are required"};
}

}  // namespace

// The kinds are added first, since the stores need them in the scheme; hooks come last, when all is
// installed.
Status Install(server::GenericAPIServer& server, Options options) {
  RETURN_IF_ERROR(Check(options));
  ASSIGN_OR_RETURN(const std::vector<runtime::KindPtr> kinds, Kinds());
  for (const runtime::KindPtr& kind : kinds) RETURN_IF_ERROR(server.scheme().Add(kind));
  ASSIGN_OR_RETURN(Stores stores, NewStores(options.storage, kinds));

  const Powers powers{.rbac = options.rbac,
                      .authorizer = options.authorizer,
                      // The stores are the unguarded ones: a check must read roles that its user
                      // may not.
                      .roles = stores["roles"],
                      .cluster_roles = stores["clusterroles"]};
  server::APIGroupInfo group{.group = std::string(authz::rbac::kGroupName)};
  auto& resources = group.storage["v1"];
  for (const char* roles : {"roles", "clusterroles"}) {
    resources[roles] = NewGuardedRoles(stores[roles], powers);
  }
  for (const char* bindings : {"rolebindings", "clusterrolebindings"}) {
    resources[bindings] = NewGuardedBindings(stores[bindings], powers);
  }
  RETURN_IF_ERROR(server.InstallAPIGroup(std::move(group)));

  const auto starter = std::make_shared<Starter>(std::move(options));
  RETURN_IF_ERROR(server.AddPostStartHook(
      "rbac/bootstrap-roles",
      [starter](const server::HookContext& hook) { return starter->Start(hook); }));
  return server.AddPreShutdownHook("rbac/stop-following",
                                   [starter](const server::HookContext& /*hook*/) -> Status {
                                     starter->Stop();
                                     return {};
                                   });
}

}  // namespace apiserver::v0::groups::rbac
