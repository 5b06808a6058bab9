#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "flowcontrol/conc_alloc.h"
#include "flowcontrol/controller_state.h"

namespace apiserver::v0::flowcontrol {

namespace {

// Upstream's seatDemandSmoothingCoefficient: with a round each 10 s, a peak of demand has a
// half-life of five minutes.
constexpr double kSmoothing = 0.977;

// The input for the distribution of seats in one round.
struct Round {
  std::vector<LevelState*> levels;  // The levels that are not exempt, in the order of `items`.
  std::vector<AllocProblemItem> items;
  int remaining = 0;  // The seats that exempt requests do not take.
  int min_sum = 0;
  int min_current_sum = 0;
};

// Returns the least seats that a level keeps: its highest demand, but not beyond its nominal seats,
// nor below the part that it never lends.
int MinCurrentLimit(const LevelState& level) {
  return std::max(level.min_limit, std::min(level.nominal_limit, level.demand.high_watermark));
}

// Returns the seats of each level of `round`; `fair` is for the gauge.
// Three cases, as in updateBorrowingLocked: not even the lower bounds fit, the least demands do not
// fit, or there are seats to distribute.
std::vector<int> Share(const Round& round, int nominal_sum, double& fair, LogSink& log) {
  std::vector<int> limits;
  if (round.remaining <= round.min_sum) {
    for (const LevelState* level : round.levels) limits.push_back(level->min_limit);
    return limits;
  }
  if (round.remaining <= round.min_current_sum) {
    const double share = static_cast<double>(round.remaining - round.min_sum) /
                         (round.min_current_sum - round.min_sum);
    for (const LevelState* level : round.levels) {
      const int above = MinCurrentLimit(*level) - level->min_limit;
      limits.push_back(level->min_limit + static_cast<int>(std::round(above * share)));
    }
    return limits;
  }
  const auto allocation = ComputeConcurrencyAllocation(nominal_sum, round.items);
  if (allocation.ok()) fair = allocation->fair_proportion;
  for (std::size_t i = 0; i < round.levels.size(); ++i) {
    limits.push_back(allocation.ok() ? static_cast<int>(std::round(allocation->seats[i]))
                                     : round.levels[i]->current_limit);
  }
  if (!allocation.ok()) {
    Log(log, LogLevel::kError, "unable to derive new concurrency limits",
        {{"error", std::string(allocation.status().message())}});
  }
  return limits;
}

// Returns the limit that utilization is a share of: a level without seats is shown as if it had a
// tenth of all.
int Denominator(int limit, int server_limit) {
  return limit > 0 ? limit : std::max(1, static_cast<int>(std::round(server_limit / 10.0)));
}

// Sets the limit and its gauges; more seats start waiting requests at once.
void Apply(LevelState& level, int limit, double target, int server_limit) {
  level.current_limit = limit;
  level.metrics->demand_high_watermark.Set(level.demand.high_watermark);
  level.metrics->demand_average.Set(level.demand.average);
  level.metrics->demand_stdev.Set(level.demand.deviation);
  level.metrics->demand_smoothed.Set(level.demand.smoothed);
  level.metrics->target_seats.Set(target);
  level.metrics->current_limit_seats.Set(limit);
  level.queues->Configure(
      level.queuing(),
      {.concurrency_limit = limit, .concurrency_denominator = Denominator(limit, server_limit)});
}

}  // namespace

// Smooths downward only: a rising demand counts at once, a falling one fades.
void SeatDemandStats::Update(const IntegratorResults& observed) {
  high_watermark = static_cast<int>(std::round(observed.max));
  // Over no time at all there is no average; the high watermark still counts.
  if (observed.duration <= 0) return;
  average = observed.average;
  deviation = std::isnan(observed.deviation) ? 0 : observed.deviation;
  const double envelope = average + deviation;
  smoothed = std::max(envelope, kSmoothing * smoothed + (1 - kSmoothing) * envelope);
}

// Follows updateBorrowingLocked of the Go controller; one call at a time, under the controller's
// lock. Exempt levels take first and are never limited.
void Controller::State::UpdateBorrowing(metrics::Gauge& fair_fraction, LogSink& log) {
  Round round{.remaining = nominal_limit_sum};
  for (auto& [name, level] : levels) {
    level.demand.Update(level.queues->ResetSeatDemand());
    if (level.config.exempt) {
      const int taken = std::max(level.min_limit, level.demand.high_watermark);
      round.remaining -= taken;
      Apply(level, taken, taken, server_limit);
      continue;
    }
    const int least = MinCurrentLimit(level);
    round.levels.push_back(&level);
    round.items.push_back({.target = std::max<double>(least, level.demand.smoothed),
                           .lower_bound = static_cast<double>(least),
                           .upper_bound = static_cast<double>(level.max_limit)});
    round.min_sum += level.min_limit;
    round.min_current_sum += least;
  }
  double fair = 0;
  const std::vector<int> limits = Share(round, nominal_limit_sum, fair, log);
  fair_fraction.Set(fair);
  for (std::size_t i = 0; i < limits.size(); ++i) {
    Apply(*round.levels[i], limits[i], round.items[i].target, server_limit);
  }
}

}  // namespace apiserver::v0::flowcontrol
