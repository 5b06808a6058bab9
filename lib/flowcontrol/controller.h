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
#include "flowcontrol/class_memo.h"
#include "flowcontrol/dropped_requests_tracker.h"
#include "flowcontrol/flow_hash.h"
#include "flowcontrol/metrics.h"
#include "flowcontrol/queue_set.h"
#include "flowcontrol/watch_tracker.h"
#include "flowcontrol/watermark.h"
#include "flowcontrol/work_estimate.h"

namespace apiserver::inline v0::flowcontrol {

// A priority level in use. The part that requests read does not change; a level that is configured
// anew keeps its queues.
struct Level {
  PriorityLevelConfiguration config;
  std::shared_ptr<QueueSet> queues;
  int max_seats = 0;  // Limits the estimate of one request; 0: as the estimator has it.
};
using LevelPtr = std::shared_ptr<const Level>;

struct Schema {
  FlowSchema config;
  LevelPtr level;
  const FlowMetrics* metrics;
};

// The classes of requests: immutable, replaced as a whole.
struct Classes {
  std::vector<Schema> schemas;  // The order in which they are tried.
  std::size_t catch_all = 0;
  mutable ClassMemo memo = {};
};

struct LevelState;

// The seats of a server, and the parts of it that the controller uses.
struct ControllerOptions {
  // The seats of all levels that are not exempt.
  int server_concurrency_limit = 600;
  const Clock* clock = nullptr;  // Required, as are the next three.
  Executor* executor = nullptr;  // Runs delayed work.
  Random* random = nullptr;
  std::shared_ptr<metrics::Registry> metrics;
  WorkEstimatorConfig estimator = {};
  StatsOf stats_of = nullptr;
  std::shared_ptr<Watermarks> watermarks = nullptr;  // Gets the limits. Null: they are not needed.
  LogSink* log = &NullLogSink();
};

// Classifies requests into levels, distributes the seats among levels, and holds the configuration:
// the configController of k8s.io/apiserver/pkg/util/flowcontrol. Any thread.
class Controller final : public FlowControl, public std::enable_shared_from_this<Controller> {
 public:
  // Returns a controller with the built-in configuration.
  static std::shared_ptr<Controller> New(const ControllerOptions& options);
  explicit Controller(const ControllerOptions& options);  // Use New().
  ~Controller() override;

  void Configure(Configuration configuration) override;
  std::vector<std::string> PriorityLevels() const override;

  // The class of a request; keeps the objects it points to alive.
  struct Classified {
    std::shared_ptr<const Classes> classes;
    const Schema* schema;
    std::string_view distinguisher;
    std::uint64_t flow_hash;
  };
  // `info` and `user` must outlive the result.
  Classified Classify(const request::RequestInfo& info, const auth::UserInfoPtr& user) const;
  WorkEstimate Estimate(const Schema& schema, const request::RequestInfo& info,
                        const http::Query& query) const;

  WatchTracker& watches() { return watches_; }
  DroppedRequestsTracker& dropped() { return dropped_; }

  // Gives levels more or fewer seats by their demand since the last call; upstream does it every 10
  // seconds.
  void UpdateBorrowing();
  // Sets the gauges that are not updated with every request.
  void ShowProgress() const;

  // Return the texts of the debug endpoints:
  // k8s.io/apiserver/pkg/util/flowcontrol/apf_controller_debug.go.
  std::string DumpPriorityLevels() const;
  std::string DumpQueues() const;
  std::string DumpRequests(bool with_details) const;

 private:
  struct State;
  ClassMemo::Class ClassOf(const Classes& classes, const request::RequestInfo& info,
                           const auth::UserInfo& user) const;
  LevelState NewLevel(const std::string& name);
  // Removes unwanted levels that have become idle.
  void Reap();
  // Distributes the seats and shows requests the new `state`.
  void Publish(State& state);

  const ControllerOptions options_;
  mutable Metrics metrics_;
  const FlowHash hash_;
  const WorkEstimator estimator_;
  WatchTracker watches_;
  DroppedRequestsTracker dropped_;
  Guarded<std::unique_ptr<State>> state_;
  // Has a lock of its own, which a request holds while it copies the pointer.
  Guarded<std::shared_ptr<const Classes>> classes_;
};

}  // namespace apiserver::inline v0::flowcontrol
