#include "groups.h"

#include "apiserver/groups/admissionregistration.h"
#include "apiserver/groups/authentication.h"
#include "apiserver/groups/authorization.h"
#include "apiserver/groups/core.h"
#include "apiserver/groups/flowcontrol.h"
#include "apiserver/groups/rbac.h"

namespace sample {

namespace {

using apiserver::Status;
namespace groups = apiserver::groups;
namespace registry = apiserver::registry;
namespace server = apiserver::server;

Status InstallAuthentication(const GroupsOf& of, server::GenericAPIServer& api,
                             const registry::StorageConfig& storage) {
  const auto& options = of.options.built_in_authentication;
  const auto& made = of.made.authentication;
  if (options.WantsTokenObjects()) {
    Status installed = groups::core::Install(api, {.storage = storage, .tokens = of.tokens});
    if (!installed.ok()) return installed;
  }
  Status installed =
      options.InstallIssuerDiscovery(api, made, of.options.secure_serving.bind_address, of.log);
  if (!installed.ok()) return installed;
  // Answers `kubectl auth whoami`, and servers that leave authentication to this one.
  return groups::authentication::Install(
      api, {.authenticator = made.authenticator, .api_audiences = made.api_audiences});
}

Status InstallAuthorization(const GroupsOf& of, server::GenericAPIServer& api,
                            const registry::StorageConfig& storage) {
  const auto& made = of.made.authorization;
  if (made.rbac) {
    Status installed = groups::rbac::Install(
        api,
        {.storage = storage, .rbac = made.rbac, .authorizer = made.authorizer, .log = &of.log});
    if (!installed.ok()) return installed;
  }
  // Answers `kubectl auth can-i`.
  return groups::authorization::Install(api, made.authorizer, made.rules);
}

}  // namespace

Status InstallGroups(const GroupsOf& of, server::GenericAPIServer& api,
                     const registry::StorageConfig& storage) {
  // Behind an aggregator these are the cluster's.
  if (of.options.standalone) {
    Status installed = InstallAuthentication(of, api, storage);
    if (installed.ok()) installed = InstallAuthorization(of, api, storage);
    if (!installed.ok()) return installed;
  }
  Status installed =
      groups::admissionregistration::Install(api, {.storage = storage,
                                                   .mutating = of.made.admission.mutating,
                                                   .validating = of.made.admission.validating});
  if (!installed.ok() || !of.options.features.enable_priority_and_fairness) return installed;
  return groups::flowcontrol::Install(api, {.storage = storage, .log = &of.log});
}

}  // namespace sample
