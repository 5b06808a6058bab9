#include "groups/admissionregistration/policy_install.h"

#include <chrono>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "apiserver/client/client.h"
#include "apiserver/groups/admissionregistration.h"
#include "base/status_macros.h"
#include "groups/admissionregistration/policy_kinds.h"
#include "groups/admissionregistration/policy_strategy.h"

namespace apiserver::v0::groups::admissionregistration {

namespace {

// The interval at which a hook checks if the server stops before it has started.
constexpr std::chrono::milliseconds kPolicySyncStep{200};

using Stores = std::map<std::string, std::shared_ptr<registry::Store>>;  // By kind.

// Returns what checks the writers of `kind`. `stores` has the store of a binding's policies.
std::shared_ptr<const ParamAccess> AccessOf(const PolicyResources& resources,
                                            const runtime::Kind& kind, const Stores& stores) {
  const auto policies = IsMutating(kind) ? resources.mutating : resources.validating;
  ParamAccessOptions options{.authorizer = resources.authorizer,
                             .resolve = [policies](const Context& ctx, const auto& wanted) {
                               return policies->ResourceFor(ctx, wanted);
                             }};
  const std::string of = IsMutating(kind) ? "MutatingAdmissionPolicy" : "ValidatingAdmissionPolicy";
  if (const auto at = stores.find(of); at != stores.end()) {
    options.policy = [store = at->second](const Context& ctx, std::string_view name) {
      return store->Get(ctx, name, {});
    };
  }
  return std::make_shared<ParamAccess>(std::move(options));
}

Status FollowSource(const server::HookContext& hook, admission::Policies& policies) {
  policies.Start(client::NewClient(hook.server.LoopbackConnection()));
  while (!policies.WaitForSync(kPolicySyncStep)) RETURN_IF_ERROR(hook.ctx.Err());
  return {};
}

}  // namespace

Status AddPolicyResources(server::GenericAPIServer& server, const PolicyResources& resources,
                          server::APIGroupInfo& group) {
  ASSIGN_OR_RETURN(const std::vector<runtime::KindPtr> kinds, PolicyKinds());
  Stores stores;
  // Policies come before their bindings, whose strategy reads them.
  for (const runtime::KindPtr& kind : kinds) {
    if (!(IsMutating(*kind) ? resources.mutating : resources.validating)) continue;
    RETURN_IF_ERROR(server.scheme().Add(kind));
    ASSIGN_OR_RETURN(
        auto store,
        registry::NewStore(resources.storage,
                           {.kind = kind,
                            .strategy = NewPolicyStrategy(kind, AccessOf(resources, *kind, stores),
                                                          resources.new_checker),
                            .table_convertor = NewPolicyColumns(kind, *resources.storage.clock),
                            .functions_inline = true,
                            .validate_schema = false}));
    stores[kind->kind()] = store;
    group.storage["v1"][kind->plural()] = store;
    if (IsMutating(*kind) && resources.v1beta1) group.storage["v1beta1"][kind->plural()] = store;
    if (!HasStatus(*kind)) continue;
    ASSIGN_OR_RETURN(group.storage["v1"][kind->plural() + "/status"],
                     registry::NewStatusStore(store, NewPolicyStatusStrategy(kind)));
  }
  return {};
}

Status FollowPolicies(server::GenericAPIServer& server, const PolicyResources& resources) {
  for (const auto& policies : {resources.mutating, resources.validating}) {
    if (!policies) continue;
    const std::string what = policies == resources.mutating ? "mutating" : "validating";
    const std::string hook = "admissionregistration/follow-" + what + "-policies";
    RETURN_IF_ERROR(server.AddPostStartHook(hook, [policies](const server::HookContext& start) {
      return FollowSource(start, *policies);
    }));
    RETURN_IF_ERROR(server.AddPreShutdownHook(hook, [policies](const server::HookContext&) {
      policies->Stop();
      return Status();
    }));
  }
  return {};
}

}  // namespace apiserver::v0::groups::admissionregistration
