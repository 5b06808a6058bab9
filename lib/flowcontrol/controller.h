#pragma once  // Library-internal: other rooms include this header.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/auth/user.h"
#include "apiserver/base/clock.h"
#include "apiserver/base/executor.h"
#include "apiserver/base/log.h"
#include "apiserver/base/metrics.h"
#include "apiserver/base/random.h"
#include "apiserver/base/status.h"
#include "apiserver/base/sync.h"
#include "apiserver/flowcontrol/config.h"
#include "apiserver/flowcontrol/flow_control.h"
#include "apiserver/request/request_info.h"
#include "flowcontrol/dropped_requests_tracker.h"
#include "flowcontrol/flow_hash.h"
#include "flowcontrol/metrics.h"
#include "flowcontrol/queue_set.h"
#include "flowcontrol/watch_tracker.h"
#include "flowcontrol/watermark.h"
#include "flowcontrol/work_estimate.h"

namespace apiserver::inline v0::flowcontrol {

// A priority level in use. What requests read does not change; a level that is configured anew
// keeps its queues.
struct Level {
  PriorityLevelConfiguration config;
  std::shared_ptr<QueueSet> queues;
  int max_seats = 0;  // That one request is estimated at; 0: as the estimator has it.
};
using LevelPtr = std::shared_ptr<const Level>;

struct Schema {
  FlowSchema config;
  LevelPtr level;
  const FlowMetrics* metrics;
};

// What requests are classified by: immutable, replaced whole.
struct Classes {
  std::vector<Schema> schemas;  // In the order in which they are tried.
  std::size_t catch_all = 0;
};

struct LevelState;

struct ControllerOptions {
  // How many seats all levels have that are not exempt.
  int server_concurrency_limit = 600;
  const Clock* clock = nullptr;  // Required, as are the next three.
  Executor* executor = nullptr;  // For what comes back later.
  Random* random = nullptr;
  std::shared_ptr<metrics::Registry> metrics;
  WorkEstimatorConfig estimator = {};
  StatsOf stats_of = nullptr;
  std::shared_ptr<Watermarks> watermarks = nullptr;  // Told its limits, if there is one.
  LogSink* log = &NullLogSink();
};

// Which level a request belongs to, how many seats each level has, and what that is configured by:
// k8s.io/apiserver/pkg/util/flowcontrol's configController. Any thread.
class Controller final : public FlowControl, public std::enable_shared_from_this<Controller> {
 public:
  // Begins with the built-in configuration.
  static std::shared_ptr<Controller> New(const ControllerOptions& options);
  explicit Controller(const ControllerOptions& options);  // Use New().
  ~Controller() override;

  void Configure(Configuration configuration) override;
  std::vector<std::string> PriorityLevels() const override;

  // The class of a request; keeps what it points to alive.
  struct Classified {
    std::shared_ptr<const Classes> classes;
    const Schema* schema;
    std::string_view distinguisher;
    std::uint64_t flow_hash;
  };
  // `info` and `user` must outlive the result.
  Classified Classify(const request::RequestInfo& info, const auth::UserInfo& user) const;
  WorkEstimate Estimate(const Schema& schema, const request::RequestInfo& info,
                        const http::Query& query) const;

  WatchTracker& watches() { return watches_; }
  DroppedRequestsTracker& dropped() { return dropped_; }

  // Gives levels more or fewer seats by what they have wanted since the last call; upstream does it
  // every 10 seconds.
  void UpdateBorrowing();
  // Sets the gauges that are not kept up with every request.
  void ShowProgress() const;

  // What the debug endpoints show: k8s.io/apiserver/pkg/util/flowcontrol/apf_controller_debug.go.
  std::string DumpPriorityLevels() const;
  std::string DumpQueues() const;
  std::string DumpRequests(bool with_details) const;

 private:
  struct State;
  LevelState NewLevel(const std::string& name);
  // Lets levels go that are not wanted and have become idle.
  void Reap();
  // Shares the seats out and lets requests see what `state` has become.
  void Publish(State& state);

  const ControllerOptions options_;
  mutable Metrics metrics_;
  const FlowHash hash_;
  const WorkEstimator estimator_;
  WatchTracker watches_;
  DroppedRequestsTracker dropped_;
  Guarded<std::unique_ptr<State>> state_;
  // Under a lock of its own, which a request holds for a copy of the pointer.
  Guarded<std::shared_ptr<const Classes>> classes_;
};

}  // namespace apiserver::inline v0::flowcontrol
