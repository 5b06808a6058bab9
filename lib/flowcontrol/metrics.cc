#include "flowcontrol/metrics.h"

#include <initializer_list>
#include <vector>

namespace apiserver::v0::flowcontrol {

namespace {

metrics::FamilyOptions Family(std::string name, std::string help,
                              std::vector<std::string> more_labels) {
  std::vector<std::string> labels = {"priority_level"};
  for (std::string& label : more_labels) labels.push_back(std::move(label));
  return {.name = "apiserver_flowcontrol_" + std::move(name),
          .help = std::move(help),
          .labels = std::move(labels)};
}

const char* const kNextS =
    "[ALPHA] min and max, over queues, of S(oldest waiting request in queue)";

// The buckets are upstream's, as are all names and texts here: dashboards depend on them.
std::vector<double> DurationBuckets() {
  return {0, 0.005, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30};
}

// Finds the series of one priority level, and of one flow schema in it.
class FlowSeries {
 public:
  FlowSeries(metrics::Registry& registry, std::string_view level, std::string_view schema)
      : registry_(registry), level_(level), schema_(schema) {}

  metrics::Counter& Count(std::string name, std::string help) const {
    return registry_.Counters(Family(std::move(name), std::move(help), {"flow_schema"}))
        .With({level_, schema_});
  }
  metrics::Gauge& Gauge(std::string name, std::string help) const {
    return registry_.Gauges(Family(std::move(name), std::move(help), {"flow_schema"}))
        .With({level_, schema_});
  }
  metrics::Histogram& Histogram(std::string name, std::string help,
                                std::vector<double> buckets) const {
    return registry_
        .Histograms(Family(std::move(name), std::move(help), {"flow_schema"}), std::move(buckets))
        .With({level_, schema_});
  }
  // Rejections are counted by reason, so that a dashboard tells full queues from timeouts.
  metrics::Counter& Rejected(std::string_view reason) const {
    return registry_
        .Counters(Family("rejected_requests_total",
                         "[BETA] Number of requests rejected by API Priority and Fairness "
                         "subsystem",
                         {"flow_schema", "reason"}))
        .With({level_, schema_, reason});
  }
  metrics::Histogram& Wait(std::string_view execute) const {
    return registry_
        .Histograms(Family("request_wait_duration_seconds",
                           "[BETA] Length of time a request spent waiting in its queue",
                           {"flow_schema", "execute"}),
                    DurationBuckets())
        .With({level_, schema_, execute});
  }
  metrics::Histogram& Execution(std::string_view type) const {
    return registry_
        .Histograms(Family("request_execution_seconds",
                           "[ALPHA] Duration of initial stage (for a WATCH) or any (for a "
                           "non-WATCH) stage of request execution in the API Priority and "
                           "Fairness subsystem",
                           {"flow_schema", "type"}),
                    DurationBuckets())
        .With({level_, schema_, type});
  }

 private:
  metrics::Registry& registry_;
  std::string_view level_;
  std::string_view schema_;
};

std::unique_ptr<FlowMetrics> MakeFlow(const FlowSeries& of) {
  return std::make_unique<FlowMetrics>(FlowMetrics{
      .rejected_queue_full = of.Rejected("queue-full"),
      .rejected_concurrency_limit = of.Rejected("concurrency-limit"),
      .rejected_time_out = of.Rejected("time-out"),
      .dispatched = of.Count("dispatched_requests_total",
                             "[BETA] Number of requests executed by API Priority and Fairness "
                             "subsystem"),
      .dispatch_with_no_accommodation =
          of.Count("request_dispatch_no_accommodation_total",
                   "[ALPHA] Number of times a dispatch attempt resulted in a non accommodation due "
                   "to lack of available seats"),
      .inqueue_requests =
          of.Gauge("current_inqueue_requests",
                   "[BETA] Number of requests currently pending in queues of the API "
                   "Priority and Fairness subsystem"),
      .inqueue_seats = of.Gauge("current_inqueue_seats",
                                "[ALPHA] Number of seats currently pending in queues of the API "
                                "Priority and Fairness subsystem"),
      .executing_requests =
          of.Gauge("current_executing_requests",
                   "[BETA] Number of requests in initial (for a WATCH) or any (for "
                   "a non-WATCH) execution stage in the API Priority and Fairness "
                   "subsystem"),
      .executing_seats = of.Gauge("current_executing_seats",
                                  "[BETA] Concurrency (number of seats) occupied by the currently "
                                  "executing (initial stage for a WATCH, any stage otherwise) "
                                  "requests in the API Priority and Fairness subsystem"),
      .queue_length = of.Histogram("request_queue_length_after_enqueue",
                                   "[ALPHA] Length of queue in the API Priority and Fairness "
                                   "subsystem, as seen by each request after it is enqueued",
                                   {0, 10, 25, 50, 100, 250, 500, 1000}),
      .wait_executed = of.Wait("true"),
      .wait_refused = of.Wait("false"),
      .execution_regular = of.Execution("regular"),
      .execution_watch = of.Execution("watch"),
      .watch_count = of.Histogram("watch_count_samples",
                                  "[ALPHA] count of watchers for mutating requests in API Priority "
                                  "and Fairness",
                                  {0, 1, 10, 100, 1000, 10000}),
      .work_estimated_seats = of.Histogram("work_estimated_seats",
                                           "[ALPHA] Number of estimated seats (maximum of initial "
                                           "and final seats) associated with requests in API "
                                           "Priority and Fairness",
                                           {1, 2, 4, 8, 16, 32, 64, 100})});
}

// Returns the histogram over time of a share of one of a priority level's limits.
// `level_and_phase` are the values of the labels, in their order.
metrics::Histogram& OverTime(metrics::Registry& registry, std::string name, const char* of,
                             std::vector<double> buckets,
                             std::initializer_list<std::string_view> level_and_phase) {
  // The second label value, if given, is the phase.
  std::vector<std::string> more_labels;
  if (level_and_phase.size() > 1) more_labels.emplace_back("phase");
  return registry
      .Histograms(Family(std::move(name), ObservedOverTime(of), std::move(more_labels)),
                  std::move(buckets))
      .With(level_and_phase);
}

metrics::Histogram& SeatUtilization(metrics::Registry& registry, std::string_view level) {
  return OverTime(registry, "priority_level_seat_utilization",
                  "utilization of seats for any stage of execution (but only initial stage for "
                  "WATCHes)",
                  {0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 1},
                  {level, "executing"});
}

metrics::Histogram& RequestUtilization(metrics::Registry& registry, std::string_view level,
                                       std::string_view phase) {
  return OverTime(registry, "priority_level_request_utilization",
                  "number of requests (as a fraction of the relevant limit) waiting or in any "
                  "stage of execution (but only initial stage for WATCHes)",
                  {0, 0.001, 0.003, 0.01, 0.03, 0.1, 0.25, 0.5, 0.75, 1}, {level, phase});
}

metrics::Histogram& DemandSeats(metrics::Registry& registry, std::string_view level) {
  return OverTime(registry, "demand_seats",
                  "(the number of seats each priority level could use) / (nominal number of seats "
                  "for that level)",
                  {0.2, 0.4, 0.6, 0.8, 1, 1.2, 1.4, 1.7, 2, 2.8, 4, 6}, {level});
}

std::unique_ptr<LevelMetrics> MakeLevel(metrics::Registry& registry, std::string_view level) {
  const auto gauge = [&](std::string name, std::string help) -> metrics::Gauge& {
    return registry.Gauges(Family(std::move(name), std::move(help), {})).With({level});
  };
  // Two series of one family: the earliest and the latest of all queues.
  auto& next_s = registry.Gauges(Family("next_s_bounds", kNextS, {"bound"}));
  auto& discounted =
      registry.Gauges(Family("next_discounted_s_bounds",
                             std::string(kNextS) + " - estimated work in progress", {"bound"}));
  return std::make_unique<LevelMetrics>(LevelMetrics{
      .current_r = gauge("current_r", "[ALPHA] R(time of last change)"),
      .dispatch_r = gauge("dispatch_r", "[ALPHA] R(time of last dispatch)"),
      .latest_s = gauge("latest_s", "[ALPHA] S(most recently dispatched request)"),
      .next_s_min = next_s.With({level, "min"}),
      .next_s_max = next_s.With({level, "max"}),
      .next_discounted_s_min = discounted.With({level, "min"}),
      .next_discounted_s_max = discounted.With({level, "max"}),
      .epoch_advances =
          registry
              .Counters(Family("epoch_advance_total",
                               "[ALPHA] Number of times the queueset's progress meter jumped "
                               "backward",
                               {"success"}))
              .With({level, "true"}),
      .nominal_limit_seats = gauge("nominal_limit_seats",
                                   "[BETA] Nominal number of execution seats configured for each "
                                   "priority level"),
      .lower_limit_seats = gauge("lower_limit_seats",
                                 "[ALPHA] Configured lower bound on number of execution seats "
                                 "available to each priority level"),
      .upper_limit_seats = gauge("upper_limit_seats",
                                 "[ALPHA] Configured upper bound on number of execution seats "
                                 "available to each priority level"),
      .current_limit_seats = gauge("current_limit_seats",
                                   "[ALPHA] current derived number of execution seats available "
                                   "to each priority level"),
      .demand_high_watermark = gauge("demand_seats_high_watermark",
                                     "[ALPHA] High watermark, over last adjustment period, of "
                                     "demand_seats"),
      .demand_average = gauge("demand_seats_average",
                              "[ALPHA] Time-weighted average, over last adjustment period, of "
                              "demand_seats"),
      .demand_stdev = gauge("demand_seats_stdev",
                            "[ALPHA] Time-weighted standard deviation, over last adjustment "
                            "period, of demand_seats"),
      .demand_smoothed = gauge("demand_seats_smoothed", "[ALPHA] Smoothed seat demands"),
      .target_seats = gauge("target_seats", "[ALPHA] Seat allocation targets"),
      .seat_utilization = SeatUtilization(registry, level),
      .waiting_utilization = RequestUtilization(registry, level, "waiting"),
      .executing_utilization = RequestUtilization(registry, level, "executing"),
      .demand_seats = DemandSeats(registry, level)});
}

}  // namespace

std::string ObservedOverTime(std::string_view what) {
  return "EXPERIMENTAL: [ALPHA] Observations, at the end of every nanosecond, of " +
         std::string(what);
}

const FlowMetrics& Metrics::Of(std::string_view priority_level, std::string_view flow_schema) {
  // Made once and kept: a request then counts without looking series up by label.
  const FlowKey key{priority_level, flow_schema};
  auto flows = flows_.Lock();
  auto& found = (*flows)[key];
  if (!found) found = MakeFlow({*registry_, key.first, key.second});
  return *found;
}

const LevelMetrics& Metrics::Of(std::string_view priority_level) {
  auto levels = levels_.Lock();
  const auto found = levels->find(priority_level);
  if (found != levels->end()) return *found->second;
  return *levels->emplace(std::string(priority_level), MakeLevel(*registry_, priority_level))
              .first->second;
}

metrics::Gauge& Metrics::seat_fair_frac() {
  return registry_
      ->Gauges({.name = "apiserver_flowcontrol_seat_fair_frac",
                .help = "[ALPHA] Fair fraction of server's concurrency to allocate to each "
                        "priority level that can use it",
                .labels = {}})
      .With({});
}

}  // namespace apiserver::v0::flowcontrol
