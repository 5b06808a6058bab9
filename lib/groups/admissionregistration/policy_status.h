#pragma once

#include <chrono>
#include <memory>

#include "admission/policy/type_check.h"
#include "apiserver/base/log.h"
#include "apiserver/base/metrics.h"
#include "apiserver/client/client.h"
#include "apiserver/runtime/scheme.h"

// Writes the status of ValidatingAdmissionPolicies, as the controller
// validatingadmissionpolicy-status of kube-controller-manager does.
namespace apiserver::inline v0::groups::admissionregistration {

// Writes warnings about the types in policies into their status, whenever their specs change. Start
// and Stop belong to the owner.
class PolicyStatusWriter {
 public:
  virtual ~PolicyStatusWriter() = default;  // Stops.
  // Begins to follow the server of `client`. Null metrics: nothing is counted. Called once.
  virtual void Start(std::shared_ptr<client::Client> client,
                     std::shared_ptr<metrics::Registry> metrics) = 0;
  // Stops and waits for the thread; a write in progress is cancelled. Idempotent.
  virtual void Stop() = 0;
};

// Makes a writer that knows the kinds of `scheme`. Both must outlive it.
std::shared_ptr<PolicyStatusWriter> NewPolicyStatusWriter(const runtime::Scheme& scheme,
                                                          LogSink& log);

// Returns a resolver of the kinds of `scheme`, which must outlive it.
std::unique_ptr<admission::policy::TypeResolver> NewSchemeTypes(const runtime::Scheme& scheme);

}  // namespace apiserver::inline v0::groups::admissionregistration
