#include "program/groups.h"

#include "apiserver/groups/admissionregistration.h"
#include "apiserver/groups/authentication.h"
#include "apiserver/groups/authorization.h"
#include "apiserver/groups/core.h"
#include "apiserver/groups/flowcontrol.h"
#include "apiserver/groups/rbac.h"
#include "base/status_macros.h"

namespace apiserver::v0::program {

namespace {

// Each part is installed only if the flags that need it are given.
Status InstallAuthentication(const GroupParts& parts, server::GenericAPIServer& api,
                             const registry::StorageConfig& storage) {
  const options::BuiltInAuthenticationOptions& built_in = parts.recommended.built_in_authentication;
  const options::BuiltInAuthentication& made = parts.made.authentication;
  if (parts.serve_token_objects && built_in.WantsTokenObjects()) {
    RETURN_IF_ERROR(groups::core::Install(api, {.storage = storage, .tokens = parts.tokens}));
  }
  RETURN_IF_ERROR(built_in.InstallIssuerDiscovery(
      api, made, parts.recommended.secure_serving.bind_address, parts.log));
  // `kubectl auth whoami` and servers that delegate authentication to this one need this group.
  return groups::authentication::Install(
      api, {.authenticator = made.authenticator, .api_audiences = made.api_audiences});
}

Status InstallAuthorization(const GroupParts& parts, server::GenericAPIServer& api,
                            const registry::StorageConfig& storage) {
  const options::Authorization& made = parts.made.authorization;
  if (made.rbac) {
    RETURN_IF_ERROR(groups::rbac::Install(
        api,
        {.storage = storage, .rbac = made.rbac, .authorizer = made.authorizer, .log = &parts.log}));
  }
  // For `kubectl auth can-i`.
  return groups::authorization::Install(api, made.authorizer, made.rules);
}

// Behind an aggregator admission obeys the cluster's objects, if the program knows the cluster.
Status InstallAdmission(const GroupParts& parts, server::GenericAPIServer& api,
                        const registry::StorageConfig& storage) {
  if (parts.made.core_api.client) {
    return options::FollowCluster(api, parts.made.core_api, parts.made.admission);
  }
  // [policies]
  const options::Admission& admission = parts.made.admission;
  return groups::admissionregistration::Install(
      api, {.storage = storage,
            .mutating = admission.mutating,
            .validating = admission.validating,
            .mutating_policies = admission.mutating_policies,
            .validating_policies = admission.validating_policies,
            .log = &parts.log,
            .authorizer = parts.made.authorization.authorizer});
  // [/policies]
}

}  // namespace

Status InstallGroups(const GroupParts& parts, server::GenericAPIServer& api,
                     const registry::StorageConfig& storage) {
  // Behind an aggregator the cluster serves these.
  if (parts.recommended.standalone) {
    RETURN_IF_ERROR(InstallAuthentication(parts, api, storage));
    RETURN_IF_ERROR(InstallAuthorization(parts, api, storage));
  }
  RETURN_IF_ERROR(InstallAdmission(parts, api, storage));
  if (!parts.recommended.features.enable_priority_and_fairness) return {};
  return groups::flowcontrol::Install(api, {.storage = storage, .log = &parts.log});
}

}  // namespace apiserver::v0::program
