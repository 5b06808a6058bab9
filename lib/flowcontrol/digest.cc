#include <algorithm>
#include <cmath>
#include <utility>

#include "flowcontrol/controller_state.h"

namespace apiserver::v0::flowcontrol {

namespace {

// The largest share of a level's nominal seats that one request may take.
constexpr double kMaxSeatsShare = 0.15;

// Checks a level as k8s.io/apiserver's queueSetCompleterForPL does.
Status Consistent(const PriorityLevelConfiguration& level) {
  if (level.exempt != (level.name == kExempt)) {
    return {Reason::kInvalid, "non-alignment between name and type"};
  }
  if (level.exempt || !level.queuing) return {};
  return QueueSet::Check({.desired_num_queues = level.queuing->queues,
                          .queue_length_limit = level.queuing->queue_length_limit,
                          .hand_size = level.queuing->hand_size});
}

bool IsMandatory(std::string_view name) { return name == kExempt || name == kCatchAll; }

// Half is rounded away from zero, as Go's math.Round.
int RoundPercent(int of, int percent) {
  return static_cast<int>(std::round(static_cast<double>(of) * percent / 100));
}

// A wide request may use 15 % of a level, and must leave room for each card of a hand.
int MaxSeatsOf(int nominal_limit, int hand_size) {
  const double share = std::ceil(nominal_limit * kMaxSeatsShare);
  const double spread = nominal_limit / std::max(hand_size, 1);  // NOLINT: whole seats.
  return static_cast<int>(std::max(1.0, std::min(share, spread)));
}

}  // namespace

QueuingConfig LevelState::queuing() const {
  if (config.exempt) return {.desired_num_queues = -1};
  if (!config.queuing) return {};
  return {.desired_num_queues = config.queuing->queues,
          .queue_length_limit = config.queuing->queue_length_limit,
          .hand_size = config.queuing->hand_size};
}

// Takes wanted levels out of `levels`; what is left there afterwards is unwanted.
void Controller::State::DigestLevels(std::vector<PriorityLevelConfiguration> wanted, Levels& next,
                                     const NewLevel& make, LogSink& log) {
  for (PriorityLevelConfiguration& config : wanted) {
    if (const Status status = Consistent(config); !status.ok()) {
      Log(log, LogLevel::kWarning, "priority level configuration is broken and ignored",
          {{"name", config.name}, {"error", std::string(status.message())}});
      continue;
    }
    const auto old = levels.find(config.name);
    LevelState level = old == levels.end() ? make(config.name) : std::move(old->second);
    if (std::exchange(level.quiescing, false)) level.queues->set_retiring(false);
    level.config = std::move(config);
    if (old != levels.end()) levels.erase(old);
    next.insert_or_assign(level.config.name, std::move(level));
  }
}

// Keeps the unwanted levels that are busy: they drain with the seats that their shares give them.
void Controller::State::KeepOldLevels(Levels& next) {
  for (auto& [name, level] : levels) {
    if (next.contains(name)) continue;
    if (!IsMandatory(name)) {
      // Set before the look, so that a thread which makes it idle after that reports it.
      level.queues->set_retiring(true);
      if (level.queues->IsIdle()) {
        level.queues->ShowProgress();
        continue;
      }
      level.quiescing = true;
    }
    next.emplace(name, std::move(level));
  }
}

// Follows finishQueueSetReconfigsLocked: shares become seats.
void Controller::State::SetLimits() {
  double share_sum = 0;
  for (const auto& [name, level] : levels) share_sum += level.config.nominal_concurrency_shares;
  nominal_limit_sum = 0;
  places_in_queues = 0;
  for (auto& [name, level] : levels) {
    const PriorityLevelConfiguration& config = level.config;
    // Rounded up: the sum may be a little more than the server's seats.
    const int nominal = share_sum == 0
                            ? 0
                            : static_cast<int>(std::ceil(
                                  server_limit * config.nominal_concurrency_shares / share_sum));
    const int lendable = RoundPercent(nominal, config.lendable_percent);
    const int borrowing = config.borrowing_limit_percent
                              ? RoundPercent(nominal, *config.borrowing_limit_percent)
                              : server_limit;
    // A new level has no upper limit yet.
    const bool is_new = level.max_limit == 0;
    level.nominal_limit = nominal;
    level.min_limit = nominal - lendable;
    level.max_limit = nominal + borrowing;
    level.max_seats = config.queuing ? MaxSeatsOf(nominal, config.queuing->hand_size) : 0;
    // A new level starts with half of its lendable seats lent.
    if (is_new) level.current_limit = nominal - lendable / 2;
    nominal_limit_sum += nominal;
    if (config.queuing) {
      places_in_queues +=
          static_cast<double>(config.queuing->queues) * config.queuing->queue_length_limit;
    }
    level.metrics->nominal_limit_seats.Set(nominal);
    level.metrics->lower_limit_seats.Set(level.min_limit);
    level.metrics->upper_limit_seats.Set(level.max_limit);
  }
}

// Adds the mandatory parts if the configuration lacks them.
void Controller::State::AddMandatory(const NewLevel& make) {
  Configuration mandatory = MandatoryConfiguration();
  for (PriorityLevelConfiguration& config : mandatory.priority_levels) {
    if (levels.contains(config.name)) continue;
    LevelState level = make(config.name);
    level.config = std::move(config);
    levels.emplace(level.config.name, std::move(level));
  }
  for (FlowSchema& schema : mandatory.flow_schemas) {
    const bool there =
        std::any_of(schemas.begin(), schemas.end(),
                    [&schema](const FlowSchema& each) { return each.name == schema.name; });
    if (there) continue;
    const bool first = schema.name == kExempt;
    schemas.insert(first ? schemas.begin() : schemas.end(), std::move(schema));
  }
}

// Follows lockAndDigestConfigObjects of the Go controller. The order of the steps matters, since
// limits need the final set of levels.
void Controller::State::Digest(Configuration configuration, const NewLevel& make, LogSink& log) {
  Levels next;
  DigestLevels(std::move(configuration.priority_levels), next, make, log);
  schemas.clear();
  for (FlowSchema& schema : configuration.flow_schemas) {
    // A schema of an unknown level could not be served, so its requests fall to the next one.
    if (next.contains(schema.priority_level)) schemas.push_back(std::move(schema));
  }
  std::sort(schemas.begin(), schemas.end(), [](const FlowSchema& a, const FlowSchema& b) {
    return std::pair(a.matching_precedence, std::string_view(a.name)) <
           std::pair(b.matching_precedence, std::string_view(b.name));
  });
  KeepOldLevels(next);
  levels = std::move(next);
  AddMandatory(make);
  SetLimits();
}

// True: the caller publishes the rest. Levels go without losing a request, since they are idle.
bool Controller::State::Reap() {
  const auto gone = std::erase_if(levels, [](const auto& each) {
    if (!each.second.quiescing || !each.second.queues->IsIdle()) return false;
    each.second.queues->ShowProgress();
    return true;
  });
  if (gone > 0) SetLimits();
  return gone > 0;
}

}  // namespace apiserver::v0::flowcontrol
