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

// How many seats a request takes, and for how long beyond its answer:
// k8s.io/apiserver/pkg/util/flowcontrol/request.WorkEstimate.
struct WorkEstimate {
  int initial_seats = 1;  // Until it is answered.
  int final_seats = 0;    // For `additional_latency` after that.
  std::chrono::nanoseconds additional_latency{0};

  int max_seats() const { return std::max(initial_seats, final_seats); }

  friend bool operator==(const WorkEstimate&, const WorkEstimate&) = default;
};

using ObjectStats = storage::Stats;
// What is stored of a request's resource. kNotFound: nothing is known of it, or it is served
// elsewhere, which costs little; any other error: assume the worst.
using StatsOf = std::function<Result<ObjectStats>(const request::RequestInfo& info)>;

// Upstream's DefaultWorkEstimatorConfig, with the feature SizeBasedListCostEstimate.
struct WorkEstimatorConfig {
  int minimum_seats = 1;
  int maximum_list_seats = 100;
  int maximum_mutating_seats = 10;
  // A seat for each so many watches that a write has to tell.
  double watches_per_seat = 10;
  std::chrono::nanoseconds event_additional_duration = std::chrono::milliseconds(5);
  // Whether a list of what is current is answered from the watch cache, as our cacher does.
  bool consistent_reads_from_cache = true;
};

// Estimates by what a request reads, or whom it tells. Immutable; any thread.
class WorkEstimator final {
 public:
  // A `stats_of` that is empty: no resource is known.
  WorkEstimator(WorkEstimatorConfig config, StatsOf stats_of)
      : config_(config), stats_of_(std::move(stats_of)) {}

  // `max_seats`: of the priority level; 0: as the configuration has it. `watches`: how many a write
  // has to tell.
  WorkEstimate Estimate(const request::RequestInfo& info, const http::Query& query, int max_seats,
                        int watches) const;
  // Whether `watches` counts.
  static bool IsMutating(const request::RequestInfo& info);

 private:
  WorkEstimate EstimateList(const request::RequestInfo& info, const http::Query& query,
                            int max_seats) const;
  WorkEstimate EstimateMutating(const request::RequestInfo& info, int max_seats, int watches) const;

  WorkEstimatorConfig config_;
  StatsOf stats_of_;
};

// The seats for a list by the bytes that are in memory at once for it.
std::int64_t SeatsBasedOnObjectSize(ObjectStats stats, std::int64_t limit, bool has_selector,
                                    bool from_cache, bool matches_single);

}  // namespace apiserver::inline v0::flowcontrol
