#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "flowcontrol/controller.h"

namespace apiserver::inline v0::flowcontrol {

// The recent demand of a level. The smoothed value follows a rise at once and a fall with a
// half-life of five minutes, if updated every ten seconds.
struct SeatDemandStats {
  double average = 0;
  double deviation = 0;
  int high_watermark = 0;
  double smoothed = 0;

  void Update(const IntegratorResults& observed);
};

// A level and the figures that adjust its seats.
struct LevelState {
  PriorityLevelConfiguration config;
  std::shared_ptr<QueueSet> queues;
  const LevelMetrics* metrics = nullptr;
  bool quiescing = false;  // Not wanted any more, but not idle yet.
  SeatDemandStats demand;
  int nominal_limit = 0;
  int min_limit = 0;
  int max_limit = 0;
  int current_limit = 0;
  int max_seats = 0;

  QueuingConfig queuing() const;
};

// The state under Controller's lock. Not thread-safe.
struct Controller::State {
  using Levels = std::map<std::string, LevelState>;

  // `all_seats`: those of all levels that are not exempt.
  explicit State(int all_seats) : server_limit(all_seats) {}

  // Replaces the configuration; `make` makes the queues of a new level.
  using NewLevel = std::function<LevelState(const std::string& name)>;
  void Digest(Configuration configuration, const NewLevel& make, LogSink& log);
  // Removes unwanted levels that are idle. Returns whether there were any.
  bool Reap();
  // Distributes the seats anew. `fair_fraction` gets the fair fraction.
  void UpdateBorrowing(metrics::Gauge& fair_fraction, LogSink& log);

  const int server_limit;
  Levels levels;
  std::vector<FlowSchema> schemas;  // The order in which they are tried.
  int nominal_limit_sum = 0;
  double places_in_queues = 0;

 private:
  void DigestLevels(std::vector<PriorityLevelConfiguration> wanted, Levels& next,
                    const NewLevel& make, LogSink& log);
  void AddMandatory(const NewLevel& make);
  void KeepOldLevels(Levels& next);
  void SetLimits();
};

}  // namespace apiserver::inline v0::flowcontrol
