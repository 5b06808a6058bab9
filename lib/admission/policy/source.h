#pragma once

#include <memory>
#include <vector>

#include "admission/policy/snapshot.h"
#include "apiserver/admission/policy.h"

namespace apiserver::inline v0::admission::policy {

// Makes a source whose policies are compiled by `compiler`, on its thread.
std::shared_ptr<Policies> NewFollowedPolicies(PoliciesOptions options, PolicyCompiler compiler);

// Returns a source of policies that never change, for tests.
std::shared_ptr<Policies> NewStaticPolicies(std::vector<Hook> hooks);

// The resource that serves a kind: meta.RESTMapping.
struct KindMapping {
  runtime::GroupVersionResource resource;
  bool namespaced = true;
};
// Asks the discovery of a server. Follows resolver.go of pkg/registry/admissionregistration.
// kNotFound: no resource of the version has the kind.
Result<KindMapping> MapKind(const Context& ctx, client::Client& client,
                            const runtime::GroupVersionKind& kind);

}  // namespace apiserver::inline v0::admission::policy
