#include "admission/policy/plugin.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/status_macros.h"

namespace apiserver::v0::admission::policy {

namespace {

// A policy must not prevent its own repair. Webhook configurations may be intercepted.
bool IsPolicyResource(const runtime::GroupResource& resource) {
  static constexpr std::string_view kResources[] = {
      "validatingadmissionpolicies", "validatingadmissionpolicybindings",
      "mutatingadmissionpolicies", "mutatingadmissionpolicybindings"};
  return resource.group == "admissionregistration.k8s.io" &&
         std::ranges::find(kResources, resource.resource) != std::end(kResources);
}

}  // namespace

PolicyDispatcher::PolicyDispatcher(PolicyAdmissionOptions options)
    : options_([&options] {
        if (options.excluded.empty()) options.excluded = DefaultExcluded();
        return std::move(options);
      }()),
      matcher_(options_.namespaces.get()) {}

Status PolicyDispatcher::RequireAuthorizer(const Context& ctx, const Snapshot& snapshot,
                                           const std::vector<std::uint32_t>& candidates) {
  if (ctx.may_block()) return {};
  const bool asks = std::ranges::any_of(candidates, [&](std::uint32_t index) {
    return snapshot.hooks()[index].policy->asks_authorizer();
  });
  return asks ? Status(Reason::kWouldBlock, "the authorizer may wait") : Status();
}

bool PolicyDispatcher::Idle() const {
  return options_.policies->WaitForSync(std::chrono::milliseconds(0)) &&
         options_.policies->Get()->hooks().empty();
}

Result<std::shared_ptr<const Snapshot>> PolicyDispatcher::SnapshotFor(
    const Attributes& attributes) const {
  const runtime::GroupResource resource = attributes.resource.group_resource();
  if (IsPolicyResource(resource) ||
      std::ranges::find(options_.excluded, resource) != options_.excluded.end()) {
    return std::shared_ptr<const Snapshot>();
  }
  // Refusing is the safe answer as long as the policies have not been read.
  if (!options_.policies->WaitForSync(options_.ready_wait)) {
    return NewForbidden(attributes, "not yet ready to handle request");
  }
  return options_.policies->Get();
}

}  // namespace apiserver::v0::admission::policy
