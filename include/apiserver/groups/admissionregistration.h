#pragma once

#include <memory>
#include <vector>

#include "apiserver/admission/policy.h"
#include "apiserver/admission/webhook.h"
#include "apiserver/auth/authorizer.h"
#include "apiserver/base/log.h"
#include "apiserver/base/status.h"
#include "apiserver/registry/store.h"
#include "apiserver/runtime/kind.h"
#include "apiserver/server/server.h"

// The group admissionregistration.k8s.io, v1, as of Kubernetes 1.36: the webhooks that are called
// about writes, and the policies in the Common Expression Language that decide about them.
namespace apiserver::inline v0::groups::admissionregistration {

// Returns MutatingWebhookConfiguration and ValidatingWebhookConfiguration; see core::Kinds().
Result<std::vector<runtime::KindPtr>> Kinds();
// Returns the policies and their bindings: MutatingAdmissionPolicy (v1 and v1beta1),
// MutatingAdmissionPolicyBinding (the same), ValidatingAdmissionPolicy and
// ValidatingAdmissionPolicyBinding (v1).
Result<std::vector<runtime::KindPtr>> PolicyKinds();

// The storage of the group, and the sources that follow it.
struct Options {
  // Required. The storage of the objects.
  registry::StorageConfig storage;
  // The webhook sources to keep up to date with the objects, from the start of the server to its
  // stop. Null: no plugin uses them.
  std::shared_ptr<admission::InformedWebhooks> mutating = nullptr;
  std::shared_ptr<admission::InformedWebhooks> validating = nullptr;
  // The policy sources to keep up to date in the same way: admission::NewPolicies(). Null: the
  // kinds of that type are not served, as nothing would enforce them.
  std::shared_ptr<admission::Policies> mutating_policies = nullptr;
  std::shared_ptr<admission::Policies> validating_policies = nullptr;
  // Serves MutatingAdmissionPolicy and its binding in v1beta1 too, which Kubernetes 1.36 turned
  // off. They are served without it if Config::resource_config enables them.
  bool policies_v1beta1 = false;
  // Writes warnings about types into the status of ValidatingAdmissionPolicies, as
  // kube-controller-manager does in a cluster. False: that controller runs elsewhere.
  bool check_policy_types = true;
  // Gets the errors of writing them. Must outlive the server.
  LogSink* log = &NullLogSink();
  // Decides if the writer of a policy may read its parameters: the authorizer of the server. Null:
  // every writer may. May block.
  std::shared_ptr<const auth::Authorizer> authorizer = nullptr;
};

// Serves the group, and follows its objects. Before Start.
//
//   auto mutating = std::make_shared<admission::InformedWebhooks>(WebhookType::kMutating);
//   auto validating = std::make_shared<admission::InformedWebhooks>(WebhookType::kValidating);
//   config.admission = {
//       admission::NewMutatingWebhookAdmission({.webhooks = mutating, .new_client = factory}),
//       admission::NewValidatingWebhookAdmission({.webhooks = validating, .new_client = factory})};
//   …
//   RETURN_IF_ERROR(groups::admissionregistration::Install(
//       *server, {.storage = storage, .mutating = mutating, .validating = validating}));
//
// Policies are added in the same way:
//
//   auto policies = admission::NewPolicies({.type = PolicyType::kValidating});
//   config.admission.push_back(admission::NewValidatingPolicyAdmission({.policies = policies}));
//   … Install(*server, {…, .validating_policies = policies, .authorizer = config.authorizer})
//
// Changes are known within milliseconds. Until all objects are known, writes wait and /readyz
// fails. kConflict: the server has the group already.
Status Install(server::GenericAPIServer& server, const Options& options);

}  // namespace apiserver::inline v0::groups::admissionregistration
