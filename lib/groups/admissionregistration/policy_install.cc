#include "groups/admissionregistration/policy_install.h"

#include <chrono>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "apiserver/client/client.h"
#include "base/status_macros.h"
#include "groups/admissionregistration/policy_kinds.h"
#include "groups/admissionregistration/policy_status.h"
#include "groups/admissionregistration/policy_strategy.h"
#include "groups/resource.h"

namespace apiserver::v0::groups::admissionregistration {

namespace {

// The interval at which a hook checks if the server stops before it has started.
constexpr std::chrono::milliseconds kPolicySyncStep{200};

// The stores of policies by kind, which the strategies of bindings read.
using PolicyStores = std::map<std::string, std::shared_ptr<registry::Store>>;

// Returns what checks the writers of `kind`. `stores` has the store of a binding's policies.
std::shared_ptr<const ParamAccess> AccessOf(const PolicyResources& resources,
                                            const runtime::Kind& kind, const PolicyStores& stores) {
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

// Returns the policies or the bindings of the sources that there are.
Result<std::vector<server::Resource>> ResourcesOf(const PolicyResources& resources, bool bindings,
                                                  const PolicyStores& stores) {
  ASSIGN_OR_RETURN(const std::vector<runtime::KindPtr> kinds, PolicyKindsWith(resources.v1beta1));
  std::vector<server::Resource> made;
  for (const runtime::KindPtr& kind : kinds) {
    if (IsBinding(*kind) != bindings) continue;
    if (!(IsMutating(*kind) ? resources.mutating : resources.validating)) continue;
    made.push_back(ResourceOf(
        kind, NewPolicyStrategy(kind, AccessOf(resources, *kind, stores), resources.new_checker),
        NewPolicyColumns(kind, *resources.storage.clock)));
    if (HasStatus(*kind)) made.back().status_strategy = NewPolicyStatusStrategy(kind);
  }
  return made;
}

// Serves policies first, then their bindings, whose strategies read them.
Status ServeKinds(server::GenericAPIServer& server, const PolicyResources& resources) {
  PolicyStores stores;
  for (const bool bindings : {false, true}) {
    ASSIGN_OR_RETURN(std::vector<server::Resource> kinds, ResourcesOf(resources, bindings, stores));
    std::vector<std::string> names;
    names.reserve(kinds.size());
    for (const server::Resource& kind : kinds) names.push_back(kind.kind->kind());
    ASSIGN_OR_RETURN(const auto made,
                     server::InstallKinds(server, resources.storage, std::move(kinds)));
    for (std::size_t i = 0; i < made.size(); ++i) stores[names[i]] = made[i];
  }
  return {};
}

// Runs on the hook's thread: the server is ready once its policies are known.
Status FollowSource(const server::HookContext& hook, admission::Policies& policies) {
  policies.Start(client::NewClient(hook.server.LoopbackConnection()));
  while (!policies.WaitForSync(kPolicySyncStep)) RETURN_IF_ERROR(hook.ctx.Err());
  return {};
}

}  // namespace

Status InstallPolicies(server::GenericAPIServer& server, const PolicyResources& resources) {
  RETURN_IF_ERROR(ServeKinds(server, resources));
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
  if (!resources.check_types || !resources.validating) return {};
  const auto writer = NewPolicyStatusWriter(server.scheme(), *resources.log);
  const std::string hook = "validatingadmissionpolicy-status";
  RETURN_IF_ERROR(server.AddPostStartHook(hook, [writer](const server::HookContext& start) {
    writer->Start(client::NewClient(start.server.LoopbackConnection()), start.server.metrics());
    return Status();
  }));
  return server.AddPreShutdownHook(hook, [writer](const server::HookContext&) {
    writer->Stop();
    return Status();
  });
}

}  // namespace apiserver::v0::groups::admissionregistration
