#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "flowcontrol/queue_set.h"
#include "flowcontrol/shuffle_sharding.h"
#include "flowcontrol/utilization.h"

namespace apiserver::inline v0::flowcontrol {

// The state under a QueueSet's lock, and the algorithm on it. Not thread-safe.
struct QueueSet::State {
  State(const LevelMetrics& level_metrics, Clock::Monotonic now);

  // Advances virtual time as if everything had been unchanged since the last call. Call it before
  // any change. A time before that of the last call counts as that one: threads read the clock in
  // another order than they come here.
  void SyncTime(Clock::Monotonic now);
  void Configure(const QueuingConfig& queuing, const DispatchingConfig& dispatching);
  bool StartWithoutQueue(FlowRequest& request);
  bool Enqueue(FlowRequest& request);
  // Dispatches as many requests as there are seats for.
  void DispatchAsMuchAsPossible();
  // Counts a request that has to wait, or no longer waits, in the gauges. One that gets its seat at
  // once is in none of them.
  static void ShowWaiting(FlowRequest& request);
  static void HideWaiting(FlowRequest& request);
  void RemoveFromQueue(FlowRequest& request);
  // Does everything but giving its seats back.
  void FinishRegularPhase(FlowRequest& request);
  void ReleaseSeats(Queue* queue, const FlowMetrics& flow, int seats);
  bool IsIdle() const { return requests_waiting == 0 && requests_executing == 0; }
  QueueSetDump Dump(bool with_details) const;
  // Call it after any change.
  void NoteUtilization();
  void ShowProgress(Clock::Monotonic time);

  SeatSeconds current_r = 0;
  Clock::Monotonic now;
  QueuingConfig queuing;
  int concurrency_limit = 0;
  std::optional<Dealer> dealer;
  // The hand that was dealt last: requests of one flow often follow each other.
  struct Dealt {
    std::uint64_t hash;
    Dealer::Hand cards;
  };
  std::optional<Dealt> dealt;
  std::vector<std::unique_ptr<Queue>> queues;
  // The value of R, by queue, at which the oldest waiting request would finish.
  Tournament finishes;
  RequestList executing_without_queue;
  std::size_t robin_index = 0;
  std::uint64_t enqueues = 0;

  int active_queues = 0;
  int seats_requested = 0;  // The seats of all queues, in use and waited for.
  int requests_waiting = 0;
  int requests_executing = 0;
  int seats_in_use = 0;
  int seats_waiting = 0;
  std::uint64_t dispatched = 0;
  std::uint64_t rejected = 0;
  std::uint64_t timed_out = 0;
  std::uint64_t cancelled = 0;
  Integrator seat_demand;
  LevelUtilization utilization;
  bool retiring = false;
  // The requests whose on_decision is to be called, linked by next_decided.
  FlowRequest* decided = nullptr;
  SeatSeconds last_dispatch_r = 0;
  SeatSeconds last_s = 0;
  const LevelMetrics& metrics;

 private:
  bool CanAccommodate(int seats) const;
  Queue& ChooseQueue(std::uint64_t flow_hash);
  bool DispatchOne();
  void Execute(FlowRequest& request, RequestList& executing);
  void ReshapeFinalWork(FlowRequest& request) const;
  void BoundNextDispatch(Queue& queue);
  void Refresh(const Queue& queue);
  void RemoveQueueIfUnwanted(Queue& queue);
  void RebuildFinishes();
  void AdvanceEpoch();
  void NoteSeatDemand();
};

}  // namespace apiserver::inline v0::flowcontrol
