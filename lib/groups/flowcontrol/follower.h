#pragma once

#include <chrono>
#include <memory>

#include "apiserver/base/clock.h"
#include "apiserver/base/log.h"
#include "apiserver/client/client.h"
#include "apiserver/flowcontrol/flow_control.h"

namespace apiserver::inline v0::groups::flowcontrol {

// Configures a server's flow control by its objects, and tells each FlowSchema's status whether its
// level is missing: the part of k8s.io/apiserver/pkg/util/flowcontrol's configController that has a
// client. Start and Stop are the owner's.
class Follower {
 public:
  virtual ~Follower() = default;  // Stops.

  // Begins, on threads of its own. Once.
  virtual void Start() = 0;
  // Whether what there was at the start is in force; false: not within `timeout`.
  virtual bool WaitForSync(std::chrono::milliseconds timeout) = 0;
  // Idempotent. The flow control keeps what it knows.
  virtual void Stop() = 0;
};

struct FollowerOptions {
  apiserver::flowcontrol::FlowControl* flow_control = nullptr;  // Null: only statuses are kept.
  const Clock* clock = &RealClock();
  LogSink* log = &NullLogSink();
  // After a write that failed; and between two looks at what has changed without being told.
  std::chrono::milliseconds retry = std::chrono::seconds(1);
};
std::unique_ptr<Follower> NewFollower(std::shared_ptr<client::Client> client,
                                      FollowerOptions options);

}  // namespace apiserver::inline v0::groups::flowcontrol
