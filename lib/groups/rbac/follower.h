#pragma once

#include <chrono>
#include <memory>

#include "apiserver/authz/rbac.h"
#include "apiserver/base/log.h"
#include "apiserver/client/client.h"

namespace apiserver::inline v0::groups::rbac {

// Keeps an authorizer up to date with the roles and bindings of a server, and the rules of
// aggregated ClusterRoles with those that they are made of. Start and Stop are the owner's.
class Follower {
 public:
  virtual ~Follower() = default;  // Stops.

  // Begins, on threads of its own. Once.
  virtual void Start() = 0;
  // Whether the authorizer knows all there was at the start; false: not within `timeout`.
  virtual bool WaitForSync(std::chrono::milliseconds timeout) const = 0;
  // Idempotent. The authorizer keeps what it knows.
  virtual void Stop() = 0;
};

std::unique_ptr<Follower> NewFollower(std::shared_ptr<client::Client> client,
                                      const std::shared_ptr<authz::rbac::RbacAuthorizer>& rbac,
                                      LogSink& log);

}  // namespace apiserver::inline v0::groups::rbac
