#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "admission/policy/cel_policies.h"
#include "apiserver/client/client.h"
#include "apiserver/groups/admissionregistration.h"
#include "base/status_macros.h"
#include "groups/admissionregistration/policy_install.h"
#include "groups/admissionregistration/strategy.h"
#include "groups/resource.h"

namespace apiserver::v0::groups::admissionregistration {

namespace {

// The interval at which the hook checks if the server stops before it has started.
constexpr std::chrono::milliseconds kSyncStep{200};

// Follows the server's own objects through its loopback.
// Runs on the hook's thread: the server is ready once its webhooks are known.
Status Follow(const server::HookContext& hook, admission::InformedWebhooks& webhooks) {
  webhooks.Start(client::NewClient(hook.server.LoopbackConnection()));
  while (!webhooks.WaitForSync(kSyncStep)) RETURN_IF_ERROR(hook.ctx.Err());
  return {};
}

// Policies of v1beta1 are served if either the host or --runtime-config asks for them.
bool WantsBeta(const server::GenericAPIServer& server, const Options& options) {
  const auto& config = server.resource_config();
  const auto enabled = [&config](const char* resource) {
    return config->ResourceEnabled({"admissionregistration.k8s.io", "v1beta1", resource});
  };
  return options.policies_v1beta1 || (config && (enabled("mutatingadmissionpolicies") ||
                                                 enabled("mutatingadmissionpolicybindings")));
}

}  // namespace

// Validation is the strategy's: upstream's messages instead of the schema's.
Status Install(server::GenericAPIServer& server, const Options& options) {
  ASSIGN_OR_RETURN(const std::vector<runtime::KindPtr> kinds, Kinds());
  const admission::policy::NewExpressionChecker new_checker = admission::policy::NewPolicyChecker();
  std::vector<server::Resource> resources;
  resources.reserve(kinds.size());
  for (const runtime::KindPtr& kind : kinds) {
    resources.push_back(ResourceOf(kind, NewConfigurationStrategy(new_checker),
                                   NewConfigurationColumns(*options.storage.clock)));
  }
  RETURN_IF_ERROR(server::InstallKinds(server, options.storage, std::move(resources)).status());
  for (const auto& webhooks : {options.mutating, options.validating}) {
    if (!webhooks) continue;
    const std::string what = webhooks == options.mutating ? "mutating" : "validating";
    const std::string hook = "admissionregistration/follow-" + what + "-webhooks";
    RETURN_IF_ERROR(server.AddPostStartHook(
        hook, [webhooks](const server::HookContext& start) { return Follow(start, *webhooks); }));
    RETURN_IF_ERROR(server.AddPreShutdownHook(hook, [webhooks](const server::HookContext&) {
      webhooks->Stop();
      return Status();
    }));
  }
  if (!options.mutating_policies && !options.validating_policies) return {};
  return InstallPolicies(server, {.storage = options.storage,
                                  .mutating = options.mutating_policies,
                                  .validating = options.validating_policies,
                                  .v1beta1 = WantsBeta(server, options),
                                  .authorizer = options.authorizer,
                                  .new_checker = new_checker,
                                  .check_types = options.check_policy_types,
                                  .log = options.log});
}

}  // namespace apiserver::v0::groups::admissionregistration
