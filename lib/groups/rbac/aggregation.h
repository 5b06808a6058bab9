#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "apiserver/authz/rbac.h"
#include "apiserver/base/log.h"
#include "apiserver/base/metrics.h"
#include "apiserver/client/client.h"
#include "apiserver/client/informer.h"
#include "apiserver/runtime/object.h"

// The aggregation of ClusterRoles: k8s.io/kubernetes/pkg/controller/clusterroleaggregation.
namespace apiserver::inline v0::groups::rbac {

using ClusterRoles = std::map<std::string, runtime::ObjectPtr>;  // By name.

// Returns the rules of `role`: those of the other roles that match one of its selectors, selector
// by selector, each in the order of names, every rule once. kBadRequest: a selector is not valid.
Result<std::vector<authz::rbac::PolicyRule>> AggregatedRules(const runtime::Object& role,
                                                             const ClusterRoles& all);

// Writes the aggregated rules whenever a ClusterRole has changed. Only the owner calls Start and
// Stop.
class Aggregator {
 public:
  virtual ~Aggregator() = default;  // Stops.
  // Returns the handler for an informer of all ClusterRoles, which must be gone before this.
  virtual client::InformerHandler handler() = 0;
  // Begins to write, on a thread of its own, once `roles` has seen all roles; it is the informer of
  // the handler, and must outlive Stop(). Called once.
  virtual void Start(const client::Informer& roles) = 0;
  virtual void Stop() = 0;  // Idempotent.
};

// `client` and `log` must outlive it. Null metrics: nothing is counted.
std::unique_ptr<Aggregator> NewAggregator(client::Client& client, LogSink& log,
                                          std::shared_ptr<metrics::Registry> metrics);

}  // namespace apiserver::inline v0::groups::rbac
