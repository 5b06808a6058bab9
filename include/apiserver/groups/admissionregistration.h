#pragma once

#include <memory>
#include <vector>

#include "apiserver/admission/webhook.h"
#include "apiserver/base/status.h"
#include "apiserver/registry/store.h"
#include "apiserver/runtime/kind.h"
#include "apiserver/server/server.h"

// The group admissionregistration.k8s.io, v1, as of Kubernetes 1.35, without its policies: the
// webhooks that are called about writes.
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
// Changes are known within milliseconds. Until all objects are known, writes wait and /readyz
// fails. kConflict: the server has the group already.
Status Install(server::GenericAPIServer& server, const Options& options);

}  // namespace apiserver::inline v0::groups::admissionregistration
