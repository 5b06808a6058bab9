#include <algorithm>

#include "flowcontrol/queue_set_state.h"

namespace apiserver::v0::flowcontrol {

namespace {

RequestDump DumpOf(const FlowRequest& request, bool with_details) {
  RequestDump dump{.flow_schema = std::string(request.flow_schema),
                   .flow_distinguisher = std::string(request.flow_distinguisher),
                   .arrived = request.arrived,
                   .work = request.work};
  if (request.state == FlowRequest::State::kExecuting) dump.started = request.started;
  // The details are copied only on demand: a dump holds the lock.
  if (!with_details) return dump;
  if (request.user != nullptr) dump.user = request.user->name;
  if (const request::RequestInfo* info = request.info) {
    dump.verb = info->verb;
    dump.path = info->path;
    dump.namespace_ = info->namespace_;
    dump.name = info->name;
    // The version as clients write it: "apps/v1", but "v1" for the legacy group.
    dump.api_version = info->api_group;
    if (!info->api_group.empty()) dump.api_version += "/";
    dump.api_version += info->api_version;
    dump.resource = info->resource;
    dump.subresource = info->subresource;
  }
  return dump;
}

std::vector<RequestDump> DumpOf(const RequestList& list, bool with_details) {
  std::vector<RequestDump> dumps;
  dumps.reserve(list.size());
  for (const FlowRequest* each = list.front(); each; each = each->next) {
    dumps.push_back(DumpOf(*each, with_details));
  }
  return dumps;
}

}  // namespace

QueueSetDump QueueSet::State::Dump(bool with_details) const {
  QueueSetDump dump{.executing_without_queue = DumpOf(executing_without_queue, with_details),
                    .waiting = requests_waiting,
                    .executing = requests_executing,
                    .seats_in_use = seats_in_use,
                    .seats_waiting = seats_waiting,
                    .dispatched = dispatched,
                    .rejected = rejected,
                    .timed_out = timed_out,
                    .cancelled = cancelled};
  for (const auto& queue : queues) {
    dump.queues.push_back({.waiting = DumpOf(queue->waiting, with_details),
                           .executing = DumpOf(queue->executing, with_details),
                           .next_dispatch_r = queue->next_dispatch_r,
                           .seats_in_use = queue->seats_in_use,
                           .initial_seats_sum = queue->initial_seats_sum,
                           .max_seats_sum = queue->max_seats_sum,
                           .total_work_sum = queue->total_work_sum});
  }
  return dump;
}

// Shown only when metrics are scraped: no gauge is written on the way of a request.
void QueueSet::State::ShowProgress(Clock::Monotonic time) {
  utilization.Show(time);
  metrics.current_r.Set(SeatSecondsToDouble(current_r));
  metrics.dispatch_r.Set(SeatSecondsToDouble(last_dispatch_r));
  metrics.latest_s.Set(SeatSecondsToDouble(last_s));
  constexpr double kEstimate = 0.003;  // Seconds; equal to the first charge of a request.
  double low = 0;
  double high = 0;
  double discounted_low = 0;
  double discounted_high = 0;
  bool first = true;
  for (const auto& queue : queues) {
    if (queue->waiting.empty()) continue;
    const double s = SeatSecondsToDouble(queue->next_dispatch_r);
    // The work in progress has been charged in advance; the discount shows where the queue would be
    // without it.
    const double discounted = s - queue->seats_in_use * kEstimate;
    low = first ? s : std::min(low, s);
    high = first ? s : std::max(high, s);
    discounted_low = first ? discounted : std::min(discounted_low, discounted);
    discounted_high = first ? discounted : std::max(discounted_high, discounted);
    first = false;
  }
  // If no request waits, the gauges keep their values.
  if (first) return;
  metrics.next_s_min.Set(low);
  metrics.next_s_max.Set(high);
  metrics.next_discounted_s_min.Set(discounted_low);
  metrics.next_discounted_s_max.Set(discounted_high);
}

}  // namespace apiserver::v0::flowcontrol
