#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "apiserver/base/clock.h"
#include "apiserver/base/context.h"
#include "apiserver/base/log.h"
#include "apiserver/base/metrics.h"
#include "apiserver/base/random.h"
#include "apiserver/base/status.h"
#include "apiserver/client/client.h"

namespace apiserver::inline v0::controller {

// Options of a LeaderElector. Pointers must outlive it.
struct LeaderElectionOptions {
  client::Client* client = nullptr;  // Required.
  // Namespace and name of the Lease (coordination.k8s.io/v1), which is created if it is missing.
  // Required. The name is also the label `name` of the metrics.
  std::string namespace_;
  std::string name;
  // Written as the lease's holder. Required, and different for each candidate: two with one
  // identity take each other for themselves.
  std::string identity;
  // Labels that the lease gets; others that it has stay.
  std::map<std::string, std::string> labels = {};

  // The time without a renewal after which others take the lease. Written in whole seconds, rounded
  // up. Must be longer than renew_deadline.
  std::chrono::nanoseconds lease_duration = std::chrono::seconds(15);
  // The time since the last renewal began after which a leader gives up. Must be longer than 1.2
  // times retry_period.
  std::chrono::nanoseconds renew_deadline = std::chrono::seconds(10);
  // The time between two renewals. Candidates try after up to 2.2 times as long, at random.
  std::chrono::nanoseconds retry_period = std::chrono::seconds(2);
  // Empties the lease when Run() ends and on_started_leading has returned, so that another
  // candidate need not wait for it to expire.
  bool release = false;

  // Required. Does the leader's work on a thread of its own. `ctx` ends with the leadership; the
  // function must then return, since Run() waits for it. If it returns earlier, the lease is kept.
  std::function<void(const Context& ctx)> on_started_leading;
  // Called once for each call of on_started_leading, when the leadership ends and `ctx` is
  // cancelled: in time even while a renewal hangs, and beside on_started_leading, which may still
  // run. `why` is OK if Run() was stopped. Runs on a thread of the elector, and may block. Null:
  // not called.
  std::function<void(const Status& why)> on_stopped_leading = nullptr;
  // Called when another holder of the lease is seen, this candidate included. Empty: it was
  // released. Runs on Run()'s thread between requests, and must not block. Null: not called.
  std::function<void(const std::string& identity)> on_new_leader = nullptr;

  // Counts leader_election_master_status and leader_election_slowpath_total under client-go's
  // names. Null: nothing is counted.
  metrics::Registry* metrics = nullptr;
  LogSink* log = &NullLogSink();
  const Clock* clock = &RealClock();
  Random* random = &SecureRandom();
};

// One candidate for the leadership of a group of processes, which a Lease decides:
// k8s.io/client-go/tools/leaderelection with a LeaseLock, with which it may share a lease.
//
//   auto elector = controller::NewLeaderElector({.client = client.get(), .namespace_ = "zoo",
//       .name = "keeper", .identity = host + "_" + uuid, .release = true,
//       .on_started_leading = [&](const Context& ctx) { pets->Start(…); … }}).value();
//   const Status lost = elector->Run(ctx);
//
// A candidate takes the lease of another one when it has seen no change of it for as long as that
// one's lease says, by its own monotonic clock: the clocks of machines need not agree, but must run
// at about the same rate. A leader stops renew_deadline after the last renewal that succeeded
// *began*, which is before others may take over. So IsLeader() is true for one candidate at a time,
// also while a leader's requests hang; upstream's leader may stay for a retry_period longer.
//
// Three things are beyond it. A process that is suspended does not notice the end of its time
// before it runs again: what must not be written by two is written with a resourceVersion. The time
// during which the machine sleeps may be missing from its monotonic clock. And whoever deletes the
// lease invites a second leader.
//
// IsLeader(), Leader() and Check() may be called from any thread, loops included.
class LeaderElector {
 public:
  virtual ~LeaderElector() = default;

  // Waits for the lease, leads, and renews it. Returns when `ctx` is done (OK) or the lease was
  // lost: kConflict if another holds it, kTimeout if it could not be renewed in time, with the last
  // error. A program may call it again, or exit as Kubernetes' components do. A server that is
  // unreachable or refuses is asked again for as long as there is time. Blocks; one call at a time.
  // Must return before the elector is destroyed.
  virtual Status Run(const Context& ctx) = 0;

  // Returns whether this candidate leads now: false from the moment at which its time has passed,
  // whatever its threads do.
  virtual bool IsLeader() const = 0;
  // Returns the identity of the last holder that was seen. Empty: none was.
  virtual std::string Leader() const = 0;
  // A health check: fails if this candidate holds the lease by all it knows, and its last renewal
  // is more than lease_duration and `tolerance` ago, because a thread is stuck. client-go's
  // HealthzAdaptor, which components give 20 s.
  //
  //   server.AddHealthCheck({.name = "leaderElection",
  //                          .check = [&](const Context&) { return elector->Check(20s); }});
  virtual Status Check(std::chrono::nanoseconds tolerance) const = 0;
};

// Makes a candidate, which does nothing before Run(). kInvalid: a required option is missing, or
// the durations contradict each other.
Result<std::unique_ptr<LeaderElector>> NewLeaderElector(LeaderElectionOptions options);

}  // namespace apiserver::inline v0::controller
