#pragma once

#include <chrono>
#include <memory>

#include "apiserver/authz/rbac.h"
#include "apiserver/base/log.h"
#include "apiserver/base/metrics.h"
#include "apiserver/client/client.h"

namespace apiserver::inline v0::groups::rbac {

// Keeps an authorizer up to date with the roles and bindings of a server, and aggregated
// ClusterRoles up to date with their parts. Only the owner calls Start and Stop.
class Follower {
 public:
  virtual ~Follower() = default;  // Stops.

  // Begins, on threads of its own. Called once.
  virtual void Start() = 0;
  // Waits until the authorizer has all objects present at the start. False: `timeout` passed first.
  virtual bool WaitForSync(std::chrono::milliseconds timeout) const = 0;
  // Stops following. Idempotent. The authorizer keeps its roles.
  virtual void Stop() = 0;
};

// `log` must outlive it. Null metrics: nothing is counted.
std::unique_ptr<Follower> NewFollower(std::shared_ptr<client::Client> client,
                                      const std::shared_ptr<authz::rbac::RbacAuthorizer>& rbac,
                                      LogSink& log, std::shared_ptr<metrics::Registry> metrics);

}  // namespace apiserver::inline v0::groups::rbac
