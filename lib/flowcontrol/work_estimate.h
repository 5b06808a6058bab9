#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>

#include "apiserver/base/function.h"
#include "apiserver/base/status.h"
#include "apiserver/http/message.h"
#include "apiserver/request/request_info.h"
#include "apiserver/storage/stats.h"

namespace apiserver::inline v0::flowcontrol {

// The seats that a request takes, and the time it keeps them after its answer:
// k8s.io/apiserver/pkg/util/flowcontrol/request.WorkEstimate.
struct WorkEstimate {
  int initial_seats = 1;  // Until it is answered.
  int final_seats = 0;    // For `additional_latency` after that.
  std::chrono::nanoseconds additional_latency{0};

  int max_seats() const { return std::max(initial_seats, final_seats); }

  friend bool operator==(const WorkEstimate&, const WorkEstimate&) = default;
};

using ObjectStats = storage::Stats;
// Returns the figures of a request's resource. kNotFound: they are not known, or another server has
// the resource, which costs little; any other error: the worst is assumed. It is called on an I/O
// loop and must not block.
using StatsOf = std::function<Result<ObjectStats>(const request::RequestInfo& info)>;

// The configuration: upstream's DefaultWorkEstimatorConfig, with the feature
// SizeBasedListCostEstimate.
struct WorkEstimatorConfig {
  int minimum_seats = 1;
  int maximum_list_seats = 100;
  int maximum_mutating_seats = 10;
  // A write takes one seat for each so many watches that it has to tell.
  double watches_per_seat = 10;
  std::chrono::nanoseconds event_additional_duration = std::chrono::milliseconds(5);
  // If set, a consistent list is answered from the watch cache, as this library's cacher does.
  bool consistent_reads_from_cache = true;
};

// Estimates by the data that a request reads, or the watches that it tells. Immutable; any thread.
class WorkEstimator final {
 public:
  // An empty `stats_of`: no resource is known.
  WorkEstimator(WorkEstimatorConfig config, StatsOf stats_of)
      : config_(config), stats_of_(std::move(stats_of)) {}

  // Estimates a request. `max_seats`: the level's limit; 0: as the configuration has it. `watches`:
  // the number that a write has to tell.
  WorkEstimate Estimate(const request::RequestInfo& info, const http::Query& query, int max_seats,
                        int watches) const;
  // True if `watches` counts.
  static bool IsMutating(const request::RequestInfo& info);

 private:
  WorkEstimate EstimateList(const request::RequestInfo& info, const http::Query& query,
                            int max_seats) const;
  WorkEstimate EstimateMutating(const request::RequestInfo& info, int max_seats, int watches) const;

  WorkEstimatorConfig config_;
  StatsOf stats_of_;
};

// Returns the seats for a list by the bytes that are in memory at once for it.
std::int64_t SeatsBasedOnObjectSize(ObjectStats stats, std::int64_t limit, bool has_selector,
                                    bool from_cache, bool matches_single);

}  // namespace apiserver::inline v0::flowcontrol
