#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "apiserver/authz/rbac.h"
#include "apiserver/base/log.h"
#include "apiserver/client/client.h"
#include "apiserver/runtime/object.h"

// ClusterRoles that are made of others:
// k8s.io/kubernetes/pkg/controller/clusterroleaggregation.
namespace apiserver::inline v0::groups::rbac {

using ClusterRoles = std::map<std::string, runtime::ObjectPtr>;  // By name.

// What the rules of `role` are to be: those of the others that one of its selectors fits, selector
// by selector, each in the order of names, every rule once. kBadRequest: a selector is not valid.
Result<std::vector<authz::rbac::PolicyRule>> AggregatedRules(const runtime::Object& role,
                                                             const ClusterRoles& all);

// Writes such rules whenever a ClusterRole has changed. Start and Stop are the owner's, the rest is
// for one thread.
class Aggregator {
 public:
  virtual ~Aggregator() = default;  // Stops.
  // What there is now; no waiting.
  virtual void Upsert(const runtime::ObjectPtr& role) = 0;
  virtual void Delete(const runtime::ObjectPtr& role) = 0;
  // Begins to write, on a thread of its own. Once.
  virtual void Start() = 0;
  virtual void Stop() = 0;  // Idempotent.
};

// `client` and `log` must outlive it.
std::unique_ptr<Aggregator> NewAggregator(client::Client& client, LogSink& log);

}  // namespace apiserver::inline v0::groups::rbac
