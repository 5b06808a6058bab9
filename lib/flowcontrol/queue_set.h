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

struct QueuingConfig {
  // 0: what finds no seat is refused. Negative: nothing waits, nothing is refused.
  int desired_num_queues = 0;
  int queue_length_limit = 0;
  int hand_size = 0;
};

struct DispatchingConfig {
  int concurrency_limit = 0;  // Seats.
  // What utilization is a share of: of the limit, or of another number while that is 0.
  int concurrency_denominator = 1;
};

// What one request looks like to a dump.
struct RequestDump {
  std::string flow_schema;
  std::string flow_distinguisher;
  Clock::Monotonic arrived;
  std::optional<Clock::Monotonic> started;  // Absent: it waits.
  WorkEstimate work;
  // Details, if asked for.
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
  Executor* executor = nullptr;           // Required. Where seats that linger are given back.
  const LevelMetrics* metrics = nullptr;  // Required.
  // Called when the last request has left while retiring() was set; any thread, no lock held.
  std::function<void()> on_idle = nullptr;
};

// The fair queues of one priority level:
// k8s.io/apiserver/pkg/util/flowcontrol/fairqueuing/queueset, whose doc.go explains the technique.
// Each request goes to the shortest of the queues its flow was dealt; seats go to the queue whose
// oldest request would finish first if every queue had always had the same number of seats. All
// methods from any thread, under one lock that is held for O(log queues); callbacks run without it.
//
// Made by std::make_shared: seats that linger keep it alive.
class QueueSet final : public std::enable_shared_from_this<QueueSet> {
 public:
  explicit QueueSet(const QueueSetOptions& options);
  ~QueueSet();

  // kInvalid: such queues cannot be.
  static Status Check(const QueuingConfig& queuing);
  // Takes effect at once for what comes; queues too many go when they are empty. `queuing` has been
  // checked.
  void Configure(const QueuingConfig& queuing, const DispatchingConfig& dispatching);

  enum class Decision : std::uint8_t { kExecute, kWait, kReject };
  // Finds `request` a seat, a place in a queue, or neither. kExecute and kWait: Finish(), or
  // Cancel() that says true, must follow. `request` stays where it is until then.
  Decision Start(FlowRequest& request);
  // Of one that has to wait: `on_decision` is called once, here if it may execute by now.
  void Await(FlowRequest& request, UniqueFunction<void(bool execute)> on_decision);
  // Takes a request that still waits out of its queue; on_decision is called with false. False: it
  // does not wait any more.
  bool Cancel(FlowRequest& request, bool timed_out);
  // The request is answered (a watch: has begun). Its seats are free, or linger as estimated.
  void Finish(FlowRequest& request);

  // Gives the seats of an executing request back before its work has begun, as if it had never had
  // them. `request` may Start() again, here or elsewhere.
  void GiveBack(FlowRequest& request);

  // Nothing waits and nothing executes.
  bool IsIdle() const;
  void set_retiring(bool retiring);
  // Seats executing and waiting for, since the last call.
  IntegratorResults ResetSeatDemand();
  QueueSetDump Dump(bool with_details) const;
  // Sets the gauges that are not kept up with every request.
  void ShowProgress() const;

 private:
  struct State;
  // Runs `change` on the state under the lock, and then, without it, what that decided.
  template <class Change>
  auto Do(Change change);

  const QueueSetOptions options_;
  Guarded<std::unique_ptr<State>> state_;
};

}  // namespace apiserver::inline v0::flowcontrol
