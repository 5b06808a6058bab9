#include "flowcontrol/queue_set.h"

#include <algorithm>
#include <utility>

#include "flowcontrol/queue_set_state.h"

namespace apiserver::v0::flowcontrol {

QueueSet::QueueSet(const QueueSetOptions& options)
    : options_(options), state_(std::make_unique<State>(*options.metrics, options.clock->Now())) {}

QueueSet::~QueueSet() = default;

// Makes one change under the lock, then runs the callbacks of the requests that it decided. Every
// change of the state goes through here.
template <class Change>
auto QueueSet::Do(Change change, std::optional<Clock::Monotonic> now) {
  FlowRequest* decided = nullptr;
  bool idle = false;
  const auto run = [&] {
    const auto locked = state_.Lock();
    State& state = **locked;
    state.SyncTime(now ? *now : options_.clock->Now());
    const auto result = change(state);
    state.NoteUtilization();
    decided = std::exchange(state.decided, nullptr);
    idle = state.retiring && state.IsIdle();
    return result;
  };
  // The callbacks run after the lock is released: a callback may start or finish requests here.
  const auto result = run();
  while (decided != nullptr) {
    // Moved out first: the request may be destroyed by the call.
    auto on_decision = std::move(decided->on_decision);
    decided = std::exchange(decided->next_decided, nullptr);
    on_decision(true);
  }
  if (idle && options_.on_idle) options_.on_idle();
  return result;
}

// Checked before a configuration is used, so that Configure() cannot fail.
Status QueueSet::Check(const QueuingConfig& queuing) {
  if (queuing.desired_num_queues <= 0) return {};
  const auto dealer = Dealer::New(queuing.desired_num_queues, queuing.hand_size);
  if (dealer.ok()) return {};
  return {Reason::kInvalid,
          "the QueueSetConfig implies an invalid shuffle sharding config (DesiredNumQueues is "
          "deckSize): " +
              std::string(dealer.status().message())};
}

void QueueSet::Configure(const QueuingConfig& queuing, const DispatchingConfig& dispatching) {
  Do([&](State& state) {
    state.Configure(queuing, dispatching);
    return true;
  });
}

// Enqueues first and dispatches then: a request with free seats passes through its queue, so that
// it is charged there.
QueueSet::Decision QueueSet::Start(FlowRequest& request, std::optional<Clock::Monotonic> now) {
  const auto start = [&request](State& state) {
    if (state.queuing.desired_num_queues < 1) {
      return state.StartWithoutQueue(request) ? Decision::kExecute : Decision::kReject;
    }
    if (!state.Enqueue(request)) return Decision::kReject;
    state.DispatchAsMuchAsPossible();
    if (request.state == FlowRequest::State::kExecuting) return Decision::kExecute;
    state.ShowWaiting(request);
    return Decision::kWait;
  };
  return Do(start, now);
}

// The decision may have come between Start() and this call; then it is told at once.
void QueueSet::Await(FlowRequest& request, UniqueFunction<void(bool execute)> on_decision) {
  const bool waits = Do([&](State&) {
    if (request.state != FlowRequest::State::kWaiting) return false;
    request.on_decision = std::move(on_decision);
    return true;
  });
  // No other thread changes it now.
  if (!waits) on_decision(request.state == FlowRequest::State::kExecuting);
}

// False: the decision was made first, and the caller must Finish() the request.
bool QueueSet::Cancel(FlowRequest& request, bool timed_out) {
  UniqueFunction<void(bool)> on_decision;
  const bool cancelled = Do([&](State& state) {
    if (request.state != FlowRequest::State::kWaiting) return false;
    ++(timed_out ? state.timed_out : state.cancelled);
    on_decision = std::move(request.on_decision);
    state.RemoveFromQueue(request);
    return true;
  });
  if (on_decision) on_decision(false);
  return cancelled;
}

void QueueSet::Finish(FlowRequest& request, std::optional<Clock::Monotonic> now) {
  Queue* const queue = request.queue;
  // Seats may linger after the request is gone, so its queue and metrics are taken first.
  const FlowMetrics& flow = *request.metrics;
  const auto finish = [&](State& state) {
    state.FinishRegularPhase(request);
    if (request.work.additional_latency.count() <= 0) {
      state.ReleaseSeats(queue, flow, request.work.max_seats());
      return false;
    }
    // A queue with seats that linger must not be removed.
    if (queue) ++queue->lingering;
    state.DispatchAsMuchAsPossible();
    return true;
  };
  if (!Do(finish, now)) return;
  (void)options_.executor->PostAfter(
      request.work.additional_latency,
      [self = shared_from_this(), queue, &flow, seats = request.work.max_seats()] {
        self->Do([&](State& state) {
          if (queue) --queue->lingering;
          state.ReleaseSeats(queue, flow, seats);
          return true;
        });
      });
}

// For a request that was not executed after all: its seats and its charge go back as if it had
// never come.
void QueueSet::GiveBack(FlowRequest& request) {
  Do([&request](State& state) {
    Queue* const queue = request.queue;
    // Takes back the charge for work after its answer; FinishRegularPhase takes back the rest.
    if (queue) queue->next_dispatch_r -= request.final_work;
    state.FinishRegularPhase(request);
    state.ReleaseSeats(queue, *request.metrics, request.work.max_seats());
    request.state = FlowRequest::State::kNew;
    request.queue = nullptr;
    return true;
  });
}

bool QueueSet::IsIdle() const { return (*state_.Lock())->IsIdle(); }

void QueueSet::set_retiring(bool retiring) { (*state_.Lock())->retiring = retiring; }

// Starts a new period, so that each round of borrowing sees the demand since the last.
IntegratorResults QueueSet::ResetSeatDemand() {
  const auto locked = state_.Lock();
  return (*locked)->seat_demand.Reset(options_.clock->Now());
}

QueueSetDump QueueSet::Dump(bool with_details) const {
  return (*state_.Lock())->Dump(with_details);
}

void QueueSet::ShowProgress() const { (*state_.Lock())->ShowProgress(options_.clock->Now()); }

}  // namespace apiserver::v0::flowcontrol
