#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include "apiserver/auth/user.h"
#include "apiserver/request/latency.h"
#include "apiserver/response/response.h"
#include "flowcontrol/controller.h"
#include "server/filters/filters.h"
#include "server/filters/seat.h"
#include "server/filters/too_many_requests.h"
#include "server/requests/flow_control.h"

namespace apiserver::v0::server {

namespace {

using flowcontrol::Controller;
using flowcontrol::FlowRequest;
using flowcontrol::QueueSet;

constexpr std::chrono::minutes kWaitMax(1);
constexpr std::chrono::nanoseconds kNoWait(0);

// The events other than a seat that end a request's wait: its deadline, or its client's going away.
struct EndOfWait {
  Executor::Cancel timer;
  Context::Registration gone;
};

// One request under priority and fairness. Lives in its exchange; that of a watch only until the
// watch has begun, as the watch may go on for hours.
struct Ticket {
  Controller::Classified classified;
  FlowRequest request = {};
  Clock::Monotonic waits_since = {};  // Set for a request that waits.
  bool mutating = false;
  bool counted = false;     // Counted among those that execute.
  bool given_up = false;    // The seat is given up until the body has come.
  bool dispatched = false;  // Counted in the metric; a seat taken again is not.
  bool in_head = false;     // The answer's head tells of it.
  std::unique_ptr<EndOfWait> end_of_wait = nullptr;

  const flowcontrol::Schema& schema() const { return *classified.schema; }
  QueueSet& queues() const { return *schema().level->queues; }
  bool exempt() const { return schema().level->config.exempt; }
};

using TicketPtr = std::unique_ptr<Ticket>;

// The subject of a running watch that is counted.
struct CountedWatch {
  const flowcontrol::WatchTracker::Subject* subject;
};

// Implements k8s.io/apiserver/pkg/server/filters/priority-and-fairness.go. A request that waits
// holds no thread.
class PriorityAndFairness final : public http::Filter, public Seat {
 public:
  PriorityAndFairness(FlowControlParts& parts, std::chrono::milliseconds request_timeout,
                      const Clock& clock, RefusalMetrics counted)
      : controller_(*parts.controller()),
        watermarks_(parts.watermarks()),
        wait_max_(request_timeout / 4),
        clock_(clock),
        counted_(std::move(counted)) {}

  std::string_view name() const override { return "priority-and-fairness"; }

  http::Step Begin(http::Exchange& exchange) const override {
    const auto& info = exchange.Get<request::RequestInfo>();
    if (std::string_view(info.verb) != "watch" && IsLongRunning(exchange))
      return http::Step::Next();
    const auto& user = exchange.Get<auth::UserInfoPtr>();
    exchange.Set(std::make_unique<Ticket>(Ticket{.classified = controller_.Classify(info, user)}));
    if (exchange.has_body()) exchange.Set(SeatTaken{this});
    Ticket& ticket = TicketOf(exchange);
    exchange.ChargeTo({.level = std::hash<std::string_view>()(ticket.schema().level->config.name),
                       .flow = ticket.classified.flow_hash,
                       .exempt = ticket.exempt()});
    ticket.request.info = &info;
    ticket.request.user = user.get();
    ticket.mutating = flowcontrol::IsMutatingRequest(info);
    return Start(exchange, ticket);
  }

  void GiveUp(http::Exchange& exchange) const override {
    Ticket& ticket = TicketOf(exchange);
    // Exempt requests have no limit that a seat would count in.
    if (ticket.exempt() || ticket.request.state != FlowRequest::State::kExecuting) return;
    ticket.queues().GiveBack(ticket.request);
    watermarks_.executing(ticket.mutating).Add(-1, ticket.request.finished);
    ticket.counted = false;
    ticket.given_up = true;
  }

  http::Step TakeAgain(http::Exchange& exchange) const override {
    Ticket& ticket = TicketOf(exchange);
    if (!std::exchange(ticket.given_up, false)) return http::Step::Next();
    // The levels may have been configured anew since.
    ticket.classified =
        controller_.Classify(*ticket.request.info, exchange.Get<auth::UserInfoPtr>());
    return Start(exchange, ticket);
  }

  void Head(http::Exchange& exchange, http::ResponseHead& head) const override {
    const TicketPtr* const found = exchange.Find<TicketPtr>();
    if (!found) return;
    Ticket* const ticket = found->get();
    ticket->in_head = true;
    // Sending the response takes no seat: waiting requests need not wait for a client that reads
    // slowly, nor for the end of the loop's turn, in which hundreds may be answered.
    if (exchange.answer_is_made()) Finish(*ticket, exchange);
    // The uids are sent instead of names, so that clients learn no names; built-in objects have
    // none.
    const flowcontrol::Schema& schema = ticket->schema();
    if (!schema.config.uid.empty()) {
      head.headers.Set("X-Kubernetes-PF-FlowSchema-UID", schema.config.uid);
    }
    if (!schema.level->config.uid.empty()) {
      head.headers.Set("X-Kubernetes-PF-PriorityLevel-UID", schema.level->config.uid);
    }
  }

  void End(http::Exchange& exchange, const http::Outcome&) const override {
    if (const TicketPtr* const found = exchange.Find<TicketPtr>(); found && *found) {
      // An exchange that has ended does not go on after its wait.
      EndWait(**found);
      Finish(**found, exchange);
    }
    if (const auto* watch = exchange.Find<CountedWatch>()) {
      controller_.watches().ForgetWatch(watch->subject);
    }
  }

 private:
  static Ticket& TicketOf(http::Exchange& exchange) { return *exchange.Get<TicketPtr>(); }
  static bool IsWatch(const Ticket& ticket) {
    return std::string_view(ticket.request.info->verb) == "watch";
  }

  http::Step Start(http::Exchange& exchange, Ticket& ticket) const {
    FlowRequest& request = ticket.request;
    request.work = controller_.Estimate(ticket.schema(), *request.info, exchange.query());
    request.flow_hash = ticket.classified.flow_hash;
    request.metrics = ticket.schema().metrics;
    request.flow_schema = ticket.schema().config.name;
    request.flow_distinguisher = ticket.classified.distinguisher;
    switch (ticket.queues().Start(request, exchange.FilterBegan(clock_))) {
      case QueueSet::Decision::kExecute:
        return Execute(exchange, ticket, kNoWait);
      case QueueSet::Decision::kWait:
        return Wait(exchange, ticket);
      case QueueSet::Decision::kReject:
        break;
    }
    return Refuse(exchange, ticket, kNoWait);
  }

  static void ObserveWait(const http::Exchange& exchange, const Ticket& ticket, bool executed,
                          std::chrono::nanoseconds took) {
    if (ticket.exempt()) return;
    request::TrackLatency(exchange.ctx(), request::Layer::kAPFQueueWait, took);
    const std::chrono::duration<double> waited = took;
    const flowcontrol::FlowMetrics& metrics = *ticket.request.metrics;
    (executed ? metrics.wait_executed : metrics.wait_refused).Observe(waited.count());
  }

  http::Step Execute(http::Exchange& exchange, Ticket& ticket,
                     std::chrono::nanoseconds waited) const {
    const bool again = std::exchange(ticket.dispatched, true);
    if (!again || waited > kNoWait) ObserveWait(exchange, ticket, /*executed=*/true, waited);
    if (!again) ticket.request.metrics->dispatched.Add();
    watermarks_.executing(ticket.mutating).Add(1, ticket.request.started);
    ticket.counted = true;
    if (IsWatch(ticket)) {
      const auto* const subject =
          controller_.watches().RegisterWatch(*ticket.request.info, exchange.query());
      if (subject) exchange.Set(CountedWatch{subject});
      // A watch keeps its seats only until it has begun.
      exchange.Set(response::WatchInitialized{[this, &exchange] {
        TicketPtr& begun = *exchange.ctx().Mutable<TicketPtr>();
        // The handler may run on another thread than filters.
        if (Executes(*begun)) Finish(*begun, clock_.Now());
        if (begun->in_head) begun.reset();
      }});
    }
    return http::Step::Next();
  }

  static void EndWait(Ticket& ticket) {
    if (!ticket.end_of_wait) return;
    ticket.end_of_wait->timer();
    ticket.end_of_wait.reset();
  }

  static bool Executes(const Ticket& ticket) {
    return ticket.request.state == FlowRequest::State::kExecuting;
  }

  // Gives back the seats that the request still has. From a filter's Head or End.
  void Finish(Ticket& ticket, const http::Exchange& exchange) const {
    if (Executes(ticket)) Finish(ticket, exchange.FilterBegan(clock_));
  }

  void Finish(Ticket& ticket, Clock::Monotonic now) const {
    ticket.queues().Finish(ticket.request, now);
    // A request that went away between getting its seat and taking it was not counted.
    if (ticket.counted) watermarks_.executing(ticket.mutating).Add(-1, ticket.request.finished);
    const std::chrono::duration<double> took = ticket.request.finished - ticket.request.started;
    const flowcontrol::FlowMetrics& metrics = *ticket.request.metrics;
    (IsWatch(ticket) ? metrics.execution_watch : metrics.execution_regular).Observe(took.count());
  }

  http::Step Refuse(http::Exchange& exchange, const Ticket& ticket,
                    std::chrono::nanoseconds waited) const {
    ObserveWait(exchange, ticket, /*executed=*/false, waited);
    return TooManyRequests(
        exchange, controller_.dropped().RecordDroppedRequest(ticket.schema().level->config.name),
        counted_);
  }

  // Returns a quarter of the time that the request has left, at most a minute.
  std::chrono::nanoseconds WaitLimit(const http::Exchange& exchange) const {
    std::chrono::nanoseconds limit = wait_max_;
    if (const auto deadline = exchange.ctx().deadline()) limit = (*deadline - clock_.Now()) / 4;
    return std::clamp<std::chrono::nanoseconds>(limit, std::chrono::nanoseconds(0), kWaitMax);
  }

  http::Step Wait(http::Exchange& exchange, Ticket& ticket) const {
    ticket.waits_since = clock_.Now();
    watermarks_.waiting(ticket.mutating).Add(1, ticket.waits_since);
    return http::Step::Later([this, &exchange, &ticket](http::Resume resume) {
      QueueSet& queues = ticket.queues();
      FlowRequest& request = ticket.request;
      ticket.end_of_wait = std::make_unique<EndOfWait>();
      ticket.end_of_wait->timer = exchange.loop().PostAfter(
          WaitLimit(exchange),
          [&queues, &request] { (void)queues.Cancel(request, /*timed_out=*/true); });
      ticket.end_of_wait->gone = exchange.ctx().OnDone(
          [&queues, &request] { (void)queues.Cancel(request, /*timed_out=*/false); });
      queues.Await(
          request, [this, &exchange, &ticket, resume = std::move(resume)](bool execute) mutable {
            watermarks_.waiting(ticket.mutating)
                .Add(-1, execute ? ticket.request.started : clock_.Now());
            resume.OnLoop([this, &exchange, &ticket, execute] {
              EndWait(ticket);
              const auto waited = clock_.Now() - ticket.waits_since;
              return execute ? Execute(exchange, ticket, waited) : Refuse(exchange, ticket, waited);
            });
          });
    });
  }

  Controller& controller_;
  flowcontrol::Watermarks& watermarks_;
  const std::chrono::milliseconds wait_max_;
  const Clock& clock_;
  const RefusalMetrics counted_;
};

}  // namespace

FilterPtr NewPriorityAndFairness(FlowControlParts& parts, std::chrono::milliseconds request_timeout,
                                 const Clock& clock, RefusalMetrics counted) {
  return std::make_unique<PriorityAndFairness>(parts, request_timeout, clock, std::move(counted));
}

}  // namespace apiserver::v0::server
