#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apiserver/base/clock.h"
#include "apiserver/base/executor.h"
#include "apiserver/base/function.h"
#include "apiserver/base/status.h"
#include "apiserver/base/sync.h"
#include "flowcontrol/integrator.h"
#include "flowcontrol/metrics.h"
#include "flowcontrol/queue.h"
#include "flowcontrol/shuffle_sharding.h"
#include "flowcontrol/tournament.h"

namespace apiserver::inline v0::flowcontrol {

// The queues of a set.
struct QueuingConfig {
  // 0: a request that finds no seat is rejected. Negative: no request waits, none is rejected.
  int desired_num_queues = 0;
  int queue_length_limit = 0;
  int hand_size = 0;
};

// The seats of a set.
struct DispatchingConfig {
  int concurrency_limit = 0;  // Seats.
  // The number that utilization is a share of: the limit, or another number while the limit is 0.
  int concurrency_denominator = 1;
};

// One request in a dump.
struct RequestDump {
  std::string flow_schema;
  std::string flow_distinguisher;
  Clock::Monotonic arrived;
  std::optional<Clock::Monotonic> started;  // Absent: the request waits.
  WorkEstimate work;
  // The details, if asked for.
  std::string user;
  std::string verb;
  std::string path;
  std::string namespace_;
  std::string name;
  std::string api_version;
  std::string resource;
  std::string subresource;
};

struct QueueDump {
  std::vector<RequestDump> waiting;
  std::vector<RequestDump> executing;
  SeatSeconds next_dispatch_r = 0;
  int seats_in_use = 0;
  int initial_seats_sum = 0;
  int max_seats_sum = 0;
  SeatSeconds total_work_sum = 0;
};

struct QueueSetDump {
  std::vector<QueueDump> queues;
  std::vector<RequestDump> executing_without_queue;
  int waiting = 0;
  int executing = 0;
  int seats_in_use = 0;
  int seats_waiting = 0;
  std::uint64_t dispatched = 0;
  std::uint64_t rejected = 0;
  std::uint64_t timed_out = 0;
  std::uint64_t cancelled = 0;
};

struct QueueSetOptions {
  const Clock* clock = nullptr;           // Required.
  Executor* executor = nullptr;           // Required. Runs the return of seats that linger.
  const LevelMetrics* metrics = nullptr;  // Required.
  // Called when the last request has left while retiring() was set; on the thread that ended it,
  // without a lock. It must not block.
  std::function<void()> on_idle = nullptr;
};

// The fair queues of one priority level:
// k8s.io/apiserver/pkg/util/flowcontrol/fairqueuing/queueset, whose doc.go explains the technique.
// Each request goes to the shortest of the queues its flow was dealt; seats go to the queue whose
// oldest request would finish first if every queue had always had the same number of seats. Any
// thread may call the methods, which hold one lock for O(log queues); callbacks run without it.
//
// Made by std::make_shared: seats that linger keep it alive.
class QueueSet final : public std::enable_shared_from_this<QueueSet> {
 public:
  explicit QueueSet(const QueueSetOptions& options);
  ~QueueSet();

  // Checks a configuration. kInvalid: such queues are not possible.
  static Status Check(const QueuingConfig& queuing);
  // Changes the configuration, at once for new requests; surplus queues go when they are empty.
  // `queuing` must have been checked.
  void Configure(const QueuingConfig& queuing, const DispatchingConfig& dispatching);

  enum class Decision : std::uint8_t { kExecute, kWait, kReject };
  // Gives `request` a seat, a place in a queue, or neither. kExecute and kWait: Finish(), or a
  // Cancel() that returns true, must follow. `request` must keep its address until then. `now`: the
  // time, if the caller has read the clock.
  Decision Start(FlowRequest& request, std::optional<Clock::Monotonic> now = std::nullopt);
  // Waits for the decision on a request that has to wait. `on_decision` is called once: from here
  // if it may execute by now, else on the thread that frees a seat for it or cancels it. It must
  // not block.
  void Await(FlowRequest& request, UniqueFunction<void(bool execute)> on_decision);
  // Takes a request that still waits out of its queue; on_decision is called with false. False: it
  // does not wait any more.
  bool Cancel(FlowRequest& request, bool timed_out);
  // Ends a request that has been answered (a watch: has begun). Its seats are free, or linger as
  // estimated. `now`: the time, if the caller has read the clock.
  void Finish(FlowRequest& request, std::optional<Clock::Monotonic> now = std::nullopt);

  // Gives the seats of an executing request back before its work has begun, as if it had never had
  // them. `request` may Start() again, here or in another set.
  void GiveBack(FlowRequest& request);

  // True if no request waits or executes.
  bool IsIdle() const;
  void set_retiring(bool retiring);
  // Returns the statistics of seats executing and waited for, since the last call.
  IntegratorResults ResetSeatDemand();
  QueueSetDump Dump(bool with_details) const;
  // Sets the gauges that are not updated with every request.
  void ShowProgress() const;

 private:
  struct State;
  // Runs `change` on the state under the lock, and then, without it, the callbacks it decided on.
  template <class Change>
  auto Do(Change change, std::optional<Clock::Monotonic> now = std::nullopt);

  const QueueSetOptions options_;
  Guarded<std::unique_ptr<State>> state_;
};

}  // namespace apiserver::inline v0::flowcontrol
