#include "flowcontrol/queue_set_state.h"

#include <algorithm>
#include <span>
#include <utility>

namespace apiserver::v0::flowcontrol {

namespace {

// The estimated duration of a request until its real one is known.
constexpr std::chrono::milliseconds kEstimatedServiceDuration{3};
// The progress meter is set back by this before it overflows.
constexpr SeatSeconds kEpoch = kSeatSecondsMax / 2;
constexpr SeatSeconds kHighR = kEpoch + kEpoch / 2;

}  // namespace

QueueSet::State::State(const LevelMetrics& level_metrics, Clock::Monotonic start)
    : now(start), seat_demand(start), utilization(level_metrics, start), metrics(level_metrics) {}

// Virtual time R: passes at the rate of seats for each queue that has requests. As in fair queuing
// for server requests (Kubernetes KEP-1040), a queue's requests finish one after the other in R.
void QueueSet::State::SyncTime(Clock::Monotonic time) {
  time = std::max(time, now);
  const auto passed = time - now;
  now = time;
  // No queue is active, so no virtual time passes.
  if (active_queues == 0) return;
  // With fewer requests than seats, all get what they want; with more, the seats are shared
  // equally.
  const double rate =
      static_cast<double>(std::min(seats_requested, concurrency_limit)) / active_queues;
  current_r += SeatsTimesDuration(rate, passed);
  if (current_r >= kHighR) AdvanceEpoch();
}

// Differences stay, so the order of dispatch does not change. O(queues + waiting requests), once in
// years.
void QueueSet::State::AdvanceEpoch() {
  current_r -= kEpoch;
  for (const auto& queue : queues) {
    if (queue->empty()) {
      // The value may be older than an epoch; it is set when the next request comes.
      queue->next_dispatch_r = 0;
      continue;
    }
    queue->next_dispatch_r -= kEpoch;
    for (FlowRequest* each = queue->waiting.front(); each; each = each->next) {
      each->arrival_r -= kEpoch;
    }
  }
  RebuildFinishes();
  metrics.epoch_advances.Add();
}

// Queues beyond the wanted number are removed when they are empty; see RemoveQueueIfUnwanted.
void QueueSet::State::Configure(const QueuingConfig& wanted, const DispatchingConfig& dispatching) {
  const QueuingConfig before = std::exchange(queuing, wanted);
  concurrency_limit = dispatching.concurrency_limit;
  dealer.reset();
  dealt.reset();
  if (wanted.desired_num_queues > 0) {
    if (auto made = Dealer::New(wanted.desired_num_queues, wanted.hand_size); made.ok()) {
      dealer = *made;
    }
    const auto desired = static_cast<std::size_t>(wanted.desired_num_queues);
    while (queues.size() < desired) {
      queues.push_back(std::make_unique<Queue>());
      queues.back()->index = queues.size() - 1;
    }
    RebuildFinishes();
  } else {
    // Waiting requests go on waiting as before.
    queuing.queue_length_limit = before.queue_length_limit;
    queuing.hand_size = before.hand_size;
  }
  const double places = static_cast<double>(std::max(queuing.queue_length_limit, 1)) *
                        std::max(queuing.desired_num_queues, 1);
  utilization.SetLimits(now, places, dispatching.concurrency_denominator);
  DispatchAsMuchAsPossible();
}

// Negative number of queues: the level is exempt.
bool QueueSet::State::CanAccommodate(int seats) const {
  if (queuing.desired_num_queues < 0) return true;
  // A request wider than the whole limit runs alone.
  if (seats > concurrency_limit) return requests_executing == 0;
  return seats_in_use + seats <= concurrency_limit;
}

void QueueSet::State::NoteUtilization() {
  utilization.waiting.Set(now, requests_waiting);
  utilization.executing.Set(now, requests_executing);
  utilization.seats.Set(now, seats_in_use);
  utilization.demand.Set(now, seats_in_use + seats_waiting);
}

void QueueSet::State::NoteSeatDemand() { seat_demand.Set(now, seats_in_use + seats_waiting); }

void QueueSet::State::Execute(FlowRequest& request, RequestList& executing) {
  const int seats = request.work.max_seats();
  request.state = FlowRequest::State::kExecuting;
  request.started = now;
  executing.PushBack(request);
  ++requests_executing;
  ++dispatched;
  seats_in_use += seats;
  request.metrics->executing_requests.Add();
  request.metrics->executing_seats.Add(seats);
  NoteSeatDemand();
}

bool QueueSet::State::StartWithoutQueue(FlowRequest& request) {
  if (!CanAccommodate(request.work.max_seats())) {
    ++rejected;
    request.state = FlowRequest::State::kRejected;
    request.metrics->rejected_concurrency_limit.Add();
    return false;
  }
  request.arrived = now;
  Execute(request, executing_without_queue);
  return true;
}

// Shuffle sharding: a flow has a hand of queues and uses the one with the least work, so that a
// greedy flow fills its hand only.
Queue& QueueSet::State::ChooseQueue(std::uint64_t flow_hash) {
  if (!dealt || dealt->hash != flow_hash) {
    dealer->Deal(flow_hash, dealt.emplace(Dealt{.hash = flow_hash, .cards = {}}).cards);
  }
  const auto hand = std::span(dealt->cards).first(dealer->hand_size());
  // Beginning at another card each time removes a bias where hands overlap.
  std::size_t card = enqueues++ % hand.size();
  Queue* best = nullptr;
  for (std::size_t i = 0; i < hand.size(); ++i) {
    Queue* queue = queues[hand[card]].get();
    if (!best || queue->total_work_sum < best->total_work_sum) best = queue;
    if (++card == hand.size()) card = 0;
  }
  return *best;
}

bool QueueSet::State::Enqueue(FlowRequest& request) {
  Queue& queue = ChooseQueue(request.flow_hash);
  // A full queue alone is no reason to reject: with free seats it is about to empty.
  if (seats_in_use >= concurrency_limit &&
      queue.waiting.size() >= static_cast<std::size_t>(queuing.queue_length_limit)) {
    ++rejected;
    request.state = FlowRequest::State::kRejected;
    request.metrics->rejected_queue_full.Add();
    BoundNextDispatch(queue);
    return false;
  }
  const WorkEstimate& work = request.work;
  request.final_work = SeatsTimesDuration(work.final_seats, work.additional_latency);
  request.total_work =
      SeatsTimesDuration(work.initial_seats, kEstimatedServiceDuration) + request.final_work;
  request.arrived = now;
  request.arrival_r = current_r;
  request.queue = &queue;
  request.state = FlowRequest::State::kWaiting;
  if (queue.empty()) {
    queue.next_dispatch_r = current_r;
    ++active_queues;
  }
  queue.Enqueue(request);
  ++requests_waiting;
  seats_waiting += work.max_seats();
  seats_requested += work.max_seats();
  request.metrics->queue_length.Observe(static_cast<double>(queue.waiting.size()));
  NoteSeatDemand();
  BoundNextDispatch(queue);
  return true;
}

void QueueSet::State::ShowWaiting(FlowRequest& request) {
  request.shown_waiting = true;
  request.metrics->inqueue_requests.Add();
  request.metrics->inqueue_seats.Add(request.work.max_seats());
}

void QueueSet::State::HideWaiting(FlowRequest& request) {
  if (!std::exchange(request.shown_waiting, false)) return;
  request.metrics->inqueue_requests.Subtract();
  request.metrics->inqueue_seats.Subtract(request.work.max_seats());
}

// The tournament has the finish of each queue's oldest request, so that the next one to dispatch
// costs O(log queues).
void QueueSet::State::Refresh(const Queue& queue) {
  const FlowRequest* oldest = queue.waiting.front();
  finishes.Set(queue.index,
               oldest ? queue.next_dispatch_r + oldest->total_work : Tournament::kNone);
}

void QueueSet::State::RebuildFinishes() {
  finishes.Resize(queues.size());
  for (const auto& queue : queues) Refresh(*queue);
}

// Sets a lower bound for the next dispatch: a queue that cannot use its share must not save it up,
// so no request leaves before it came.
void QueueSet::State::BoundNextDispatch(Queue& queue) {
  if (const FlowRequest* oldest = queue.waiting.front()) {
    queue.next_dispatch_r = std::max(queue.next_dispatch_r, oldest->arrival_r);
  }
  Refresh(queue);
}

// Ends at the first request that finds no room, even if a narrower one waits behind it: the wide
// one would otherwise starve.
void QueueSet::State::DispatchAsMuchAsPossible() {
  while (requests_waiting != 0 && seats_in_use < concurrency_limit && DispatchOne()) {
  }
}

// A final phase wider than the level could never run; the same work is done longer by fewer seats.
void QueueSet::State::ReshapeFinalWork(FlowRequest& request) const {
  WorkEstimate& work = request.work;
  if (work.final_seats <= concurrency_limit) return;
  work.final_seats = concurrency_limit;
  work.additional_latency = DurationPerSeat(request.final_work, work.final_seats);
}

// Starts the request whose finish in R is the earliest, which makes the shares fair.
bool QueueSet::State::DispatchOne() {
  const std::size_t index = finishes.FirstMin(robin_index + 1);
  Queue& queue = *queues[index];
  FlowRequest& request = *queue.waiting.front();
  if (!CanAccommodate(request.work.max_seats())) {
    request.metrics->dispatch_with_no_accommodation.Add();
    return false;
  }
  // Next time the search starts behind this queue, so that queues with the same finish take turns.
  robin_index = index;
  last_dispatch_r = current_r;
  last_s = queue.next_dispatch_r;
  const int seats = request.work.max_seats();
  queue.Dequeue(request);
  --requests_waiting;
  seats_waiting -= seats;
  seats_requested -= seats;
  HideWaiting(request);
  ReshapeFinalWork(request);
  Execute(request, queue.executing);
  queue.seats_in_use += request.work.max_seats();
  seats_requested += request.work.max_seats();
  // Charges the queue in advance by the estimate; FinishRegularPhase corrects it.
  queue.next_dispatch_r += request.total_work;
  BoundNextDispatch(queue);
  if (request.on_decision) request.next_decided = std::exchange(decided, &request);
  return true;
}

void QueueSet::State::RemoveFromQueue(FlowRequest& request) {
  Queue& queue = *request.queue;
  const int seats = request.work.max_seats();
  queue.Dequeue(request);
  if (queue.empty()) --active_queues;
  --requests_waiting;
  seats_waiting -= seats;
  seats_requested -= seats;
  ++rejected;
  request.state = FlowRequest::State::kRejected;
  request.metrics->rejected_time_out.Add();
  HideWaiting(request);
  NoteSeatDemand();
  BoundNextDispatch(queue);
  // The request behind it may be narrower.
  DispatchAsMuchAsPossible();
}

// Called when the answer is complete; its seats may stay taken for a while, for the events that a
// write causes.
void QueueSet::State::FinishRegularPhase(FlowRequest& request) {
  request.state = FlowRequest::State::kFinished;
  request.finished = now;
  --requests_executing;
  request.metrics->executing_requests.Subtract();
  if (request.queue == nullptr) {
    executing_without_queue.Remove(request);
    return;
  }
  Queue& queue = *request.queue;
  queue.executing.Remove(request);
  if (queue.empty()) --active_queues;
  // The request was charged for the estimate; now its real duration is known.
  queue.next_dispatch_r -= SeatsTimesDuration(request.work.initial_seats,
                                              kEstimatedServiceDuration - (now - request.started));
  BoundNextDispatch(queue);
}

// Queue::lingering keeps `queue` alive until its seats come back.
void QueueSet::State::ReleaseSeats(Queue* queue, const FlowMetrics& flow, int seats) {
  seats_in_use -= seats;
  flow.executing_seats.Subtract(seats);
  NoteSeatDemand();
  if (queue != nullptr) {
    queue->seats_in_use -= seats;
    seats_requested -= seats;
    RemoveQueueIfUnwanted(*queue);
  }
  DispatchAsMuchAsPossible();
}

void QueueSet::State::RemoveQueueIfUnwanted(Queue& queue) {
  const int desired = std::max(queuing.desired_num_queues, 0);
  if (queues.size() <= static_cast<std::size_t>(desired) || !queue.empty() || queue.lingering > 0) {
    return;
  }
  const std::size_t index = queue.index;
  queues.erase(queues.begin() + static_cast<std::ptrdiff_t>(index));
  for (std::size_t i = index; i < queues.size(); ++i) --queues[i]->index;
  // It may go below zero; one is added before it is used.
  if (robin_index + 1 > index) --robin_index;
  RebuildFinishes();
}

}  // namespace apiserver::v0::flowcontrol
