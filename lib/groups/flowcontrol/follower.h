#pragma once

#include <chrono>
#include <memory>

#include "apiserver/base/clock.h"
#include "apiserver/base/log.h"
#include "apiserver/client/client.h"
#include "apiserver/flowcontrol/flow_control.h"

namespace apiserver::inline v0::groups::flowcontrol {

// Configures a server's flow control by its objects, and sets each FlowSchema's status condition
// about a missing level: the part of k8s.io/apiserver/pkg/util/flowcontrol's configController that
// has a client. Only the owner calls Start and Stop.
class Follower {
 public:
  virtual ~Follower() = default;  // Stops.

  // Begins, on threads of its own. Called once.
  virtual void Start() = 0;
  // Waits until the objects present at the start are in force. False: `timeout` passed first.
  virtual bool WaitForSync(std::chrono::milliseconds timeout) = 0;
  // Stops following. Idempotent. The flow control keeps its configuration.
  virtual void Stop() = 0;
};

// The flow control to configure.
struct FollowerOptions {
  apiserver::flowcontrol::FlowControl* flow_control = nullptr;  // Null: only statuses are kept.
  const Clock* clock = &RealClock();
  LogSink* log = &NullLogSink();
  // The pause after a write that failed, and the longest time between two looks at the objects.
  std::chrono::milliseconds retry = std::chrono::seconds(1);
};
std::unique_ptr<Follower> NewFollower(std::shared_ptr<client::Client> client,
                                      FollowerOptions options);

}  // namespace apiserver::inline v0::groups::flowcontrol
