#include "flowcontrol/work_estimate.h"

#include <charconv>
#include <cmath>
#include <optional>
#include <utility>

#include "flowcontrol/seat_seconds.h"

namespace apiserver::v0::flowcontrol {

namespace {

// Upstream's bytesPerSeat: a seat stands for so many bytes of a list in memory.
constexpr std::int64_t kBytesPerSeat = 100'000;
// A list from the watch cache is streamed, and holds no more than this at once.
constexpr std::int64_t kCacheBytesMax = 1'000'000;
constexpr std::int64_t kObjectBytesMax = 1'500'000;
constexpr std::int64_t kInfiniteObjects = 1'000'000'000;

// The part of metav1.ListOptions that matters here.
struct ListQuery {
  std::int64_t limit = 0;
  std::optional<bool> send_initial_events;
  std::string_view resource_version;
  std::string_view resource_version_match;
  bool continues = false;
};

// Parses the query. nullopt: the request will be refused.
// As upstream, a request whose query is malformed is estimated with the most seats: it fails soon.
std::optional<ListQuery> ParseListQuery(const http::Query& query) {
  ListQuery result{.resource_version = query.Get("resourceVersion"),
                   .resource_version_match = query.Get("resourceVersionMatch"),
                   .continues = !query.Get("continue").empty()};
  const std::string_view limit = query.Get("limit");
  if (!limit.empty()) {
    const char* end = limit.data() + limit.size();
    const auto [read, error] = std::from_chars(limit.data(), end, result.limit);
    if (error != std::errc() || read != end) return std::nullopt;
  }
  if (query.Has("sendInitialEvents")) {
    const std::string_view send = query.Get("sendInitialEvents");
    result.send_initial_events = send != "false" && send != "0";
  }
  return result;
}

// Decides as upstream's delegator.ShouldDelegateListMeta does without snapshots.
bool IsFromStorage(const ListQuery& list, bool consistent_reads_from_cache) {
  if (list.resource_version_match == "NotOlderThan") return false;
  if (!list.resource_version_match.empty()) return true;
  if (list.continues) return true;
  const std::string_view revision = list.resource_version;
  if (list.limit > 0 && !revision.empty() && revision != "0") return true;
  return revision.empty() && !consistent_reads_from_cache;
}

}  // namespace

// Follows seatsBasedOnObjectSize of list_work_estimator.go.
std::int64_t SeatsBasedOnObjectSize(ObjectStats stats, std::int64_t limit, bool has_selector,
                                    bool from_cache, bool matches_single) {
  // Sizes are unknown until objects have been read: the largest that etcd takes is assumed.
  if (stats.average_bytes <= 0 && stats.count != 0) stats.average_bytes = kObjectBytesMax;
  std::int64_t loaded = stats.count;
  if (limit > 0 && limit < loaded) loaded = limit;
  if (matches_single) {
    loaded = 1;
  } else if (!from_cache && has_selector) {
    // Pages are read until enough objects match.
    loaded = std::max(loaded, stats.count / 2);
  }
  std::int64_t bytes = loaded * stats.average_bytes;
  if (from_cache) bytes = std::min(bytes, kCacheBytesMax);
  return (bytes + kBytesPerSeat - 1) / kBytesPerSeat;
}

bool WorkEstimator::IsMutating(const request::RequestInfo& info) {
  const std::string_view verb = info.verb;
  return verb == "create" || verb == "update" || verb == "patch" || verb == "delete";
}

WorkEstimate WorkEstimator::Estimate(const request::RequestInfo& info, const http::Query& query,
                                     int max_seats, int watches) const {
  if (info.verb == "list" || info.verb == "watch") return EstimateList(info, query, max_seats);
  if (IsMutating(info)) return EstimateMutating(info, max_seats, watches);
  return {.initial_seats = config_.minimum_seats};
}

WorkEstimate WorkEstimator::EstimateList(const request::RequestInfo& info, const http::Query& query,
                                         int max_seats) const {
  if (max_seats == 0 || max_seats > config_.maximum_list_seats) {
    max_seats = config_.maximum_list_seats;
  }
  const std::optional<ListQuery> list = ParseListQuery(query);
  if (!list) return {.initial_seats = max_seats};
  const bool watch = info.verb == "watch";
  // Such a watch sends no initial list, so it costs no more than any request.
  if (watch && !list->send_initial_events.value_or(false) && !list->resource_version.empty() &&
      list->resource_version != "0") {
    return {.initial_seats = config_.minimum_seats};
  }
  const bool from_cache = watch || !IsFromStorage(*list, config_.consistent_reads_from_cache);
  if (!stats_of_) return {.initial_seats = config_.minimum_seats};
  Result<ObjectStats> stats = stats_of_(info);
  if (stats.status().reason() == Reason::kNotFound) {
    return {.initial_seats = config_.minimum_seats};
  }
  // An error says nothing about the collection; it may be large.
  if (!stats.ok()) stats = ObjectStats{kInfiniteObjects, kObjectBytesMax};
  const bool has_selector = query.Has("fieldSelector") || query.Has("labelSelector");
  const std::int64_t seats = SeatsBasedOnObjectSize(*stats, list->limit, has_selector, from_cache,
                                                    /*matches_single=*/!info.name.empty());
  const auto bounded = std::min<std::int64_t>(seats, max_seats);
  return {.initial_seats = std::max(static_cast<int>(bounded), config_.minimum_seats)};
}

// Follows mutatingWorkEstimator.estimate: the events that a write causes occupy seats after its
// answer.
WorkEstimate WorkEstimator::EstimateMutating(const request::RequestInfo& info, int max_seats,
                                             int watches) const {
  if (max_seats == 0 || max_seats > config_.maximum_mutating_seats) {
    max_seats = config_.maximum_mutating_seats;
  }
  WorkEstimate estimate{.initial_seats = config_.minimum_seats};
  // Issuing a token changes no object that is watched.
  if (info.resource == "serviceaccounts" && info.subresource == "token") return estimate;
  if (watches < static_cast<int>(config_.watches_per_seat)) return estimate;
  const double seats = std::ceil(watches / config_.watches_per_seat);
  const SeatSeconds work = SeatsTimesDuration(seats, config_.event_additional_duration);
  // The same work with fewer seats takes longer.
  estimate.final_seats = static_cast<int>(std::min<double>(seats, max_seats));
  estimate.additional_latency = DurationPerSeat(work, estimate.final_seats);
  return estimate;
}

}  // namespace apiserver::v0::flowcontrol
