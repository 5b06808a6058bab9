#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "apiserver/base/metrics.h"
#include "apiserver/base/sync.h"
#include "apiserver/http/exchange.h"
#include "apiserver/request/request_info.h"
#include "response/watch_counters.h"

namespace apiserver::inline v0::server {

// The label values that a request is counted under: k8s.io/apiserver/pkg/endpoints/metrics. All
// come from closed sets or from installed resources, so that clients cannot make new series.
struct RequestLabels {
  std::string_view verb;  // "LIST", "WATCH", "APPLY", …; "other".
  std::string_view group;
  std::string_view version;
  std::string_view resource;
  std::string_view subresource;
  std::string_view scope;      // "cluster", "namespace", "resource" or "".
  std::string_view component;  // "apiserver", or "" for health checks.
  std::string_view dry_run;    // "", "All" or "invalid".
};
// Returns the labels of a request to an installed resource.
RequestLabels LabelsOf(const http::Request& request, const http::Query& query,
                       const request::RequestInfo& info);

// Counts requests under Kubernetes' names. Any thread.
class RequestMetrics {
 public:
  explicit RequestMetrics(metrics::Registry& registry);

  struct Answer {
    int code = 0;
    std::size_t bytes = 0;
    std::chrono::nanoseconds took{0};
    // The part of `took` that was spent in webhooks and queues. nullopt: not known, and no SLI is
    // counted.
    std::optional<std::chrono::nanoseconds> not_ours = std::nullopt;
    bool by_self = false;  // True if the client is the server's loopback.
  };
  // Counts the response of a handler, whatever its code.
  void Monitor(const RequestLabels& labels, const Answer& answer);
  // Counts a request that flow control refused with 429.
  void RecordDropped(const RequestLabels& labels);
  // Counts a request that was ended in self-defence, with this code.
  void RecordTermination(const RequestLabels& labels, int code);
  // Counts a request whose response had begun when its time was up.
  void RecordAbort(const RequestLabels& labels);
  void RecordBodySize(const RequestLabels& labels, std::string_view verb, std::size_t bytes);
  // Returns the gauge of running long requests; the caller adds one, and subtracts it at the end.
  metrics::Gauge& LongRunning(const RequestLabels& labels);
  // Returns the counters for the events of a watch.
  response::WatchCounters WatchEvents(const RequestLabels& labels);
  // Returns the histogram of a filter's duration, in seconds.
  metrics::Histogram& FilterDuration(std::string_view filter);

 private:
  // The series of one set of labels; addresses live as long as the registry.
  struct Series {
    metrics::Histogram* duration = nullptr;
    metrics::Histogram* sli_duration = nullptr;
    metrics::Histogram* response_sizes = nullptr;
    std::vector<std::pair<int, metrics::Counter*>> by_code;
  };
  // A key whose hash is known.
  struct HashedText {
    std::string_view text;
    std::size_t hash;
  };
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(const HashedText& key) const { return key.hash; }
    std::size_t operator()(const std::string& key) const {
      return std::hash<std::string_view>()(key);
    }
  };
  struct Equal {
    using is_transparent = void;
    bool operator()(const HashedText& a, const std::string& b) const { return a.text == b; }
    bool operator()(const std::string& a, const HashedText& b) const { return a == b.text; }
    bool operator()(const std::string& a, const std::string& b) const { return a == b; }
  };
  using Shard = std::unordered_map<std::string, Series, Hash, Equal>;
  static constexpr std::size_t kShards = 16;

  Series NewSeries(const RequestLabels& labels);
  metrics::Counter& Requests(const RequestLabels& labels, int code);

  metrics::Family<metrics::Counter>& requests_;
  metrics::Family<metrics::Histogram>& durations_;
  metrics::Family<metrics::Histogram>& sli_durations_;
  metrics::Family<metrics::Histogram>& response_sizes_;
  metrics::Family<metrics::Histogram>& body_sizes_;
  metrics::Family<metrics::Gauge>& long_running_;
  metrics::Family<metrics::Counter>& terminations_;
  metrics::Family<metrics::Counter>& aborts_;
  metrics::Family<metrics::Counter>& self_requests_;
  metrics::Family<metrics::Histogram>& filter_durations_;
  metrics::Family<metrics::Counter>& watch_events_;
  metrics::Family<metrics::Histogram>& watch_event_sizes_;
  std::array<Guarded<Shard>, kShards> shards_;
};

}  // namespace apiserver::inline v0::server
