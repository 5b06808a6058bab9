#include "server/requests/request_metrics.h"

#include <utility>

#include "apiserver/auth/user.h"
#include "apiserver/base/trace.h"
#include "apiserver/request/latency.h"
#include "apiserver/rest/storage.h"
#include "server/filters/filter_times.h"
#include "server/filters/filters.h"

namespace apiserver::v0::server {

namespace {

// The gauge that this request is counted in, of apiserver_longrunning_requests.
struct CountedOpen {
  metrics::Gauge* gauge;
};

std::string_view BodyVerb(const request::RequestInfo& info) {
  if (info.verb == "create" || info.verb == "update" || info.verb == "patch" ||
      info.verb == "delete") {
    return info.verb;
  }
  return info.verb == "deletecollection" ? "delete_collection" : "";
}

// Counts requests that reach a handler. It stands behind the filters that refuse requests: such
// refusals are not counted here, as in Go, where the routes count.
class RequestMetricsFilter final : public http::Filter {
 public:
  RequestMetricsFilter(RequestMetrics& metrics, InstalledCheck installed)
      : metrics_(metrics), installed_(std::move(installed)) {}

  std::string_view name() const override { return "request-metrics"; }

  http::Step Begin(http::Exchange& exchange) const override {
    const auto& info = exchange.Get<request::RequestInfo>();
    if (IsLongRunning(exchange) && installed_(info)) {
      const RequestLabels labels = LabelsFor(exchange, info);
      metrics::Gauge& open = metrics_.LongRunning(labels);
      open.Add();
      exchange.Set(CountedOpen{&open});
      if (labels.verb == "WATCH") exchange.Set(metrics_.WatchEvents(labels));
    }
    return http::Step::Next();
  }

  void End(http::Exchange& exchange, const http::Outcome& outcome) const override {
    if (const auto* open = exchange.Find<CountedOpen>()) open->gauge->Subtract();
    const auto& info = exchange.Get<request::RequestInfo>();
    const auto now = exchange.FilterBegan(RealClock());
    const RequestMetrics::Answer answer{.code = outcome.code,
                                        .bytes = outcome.response_bytes,
                                        .took = now - exchange.received(),
                                        .not_ours = NotOurs(exchange),
                                        .by_self = BySelf(exchange)};
    if (info.is_resource_request) {
      // The handlers of installed resources set it.
      if (!exchange.Find<rest::Namespace>()) return;
      const RequestLabels labels = LabelsFor(exchange, info);
      metrics_.Monitor(labels, answer);
      if (const std::size_t bytes = exchange.body_bytes(); bytes > 0) {
        const std::string_view verb = BodyVerb(info);
        if (!verb.empty()) metrics_.RecordBodySize(labels, verb, bytes);
      }
    } else if (info.path == "/healthz" || info.path == "/livez" || info.path == "/readyz") {
      metrics_.Monitor({.verb = "GET", .subresource = info.path}, answer);
    }
  }

 private:
  static RequestLabels LabelsFor(const http::Exchange& exchange, const request::RequestInfo& info) {
    return LabelsOf(exchange.request(), exchange.query(), info);
  }

  static std::optional<std::chrono::nanoseconds> NotOurs(const http::Exchange& exchange) {
    const auto* trackers = exchange.Find<request::LatencyTrackers>();
    return trackers ? std::optional(trackers->NotOurs()) : std::nullopt;
  }

  static bool BySelf(const http::Exchange& exchange) {
    const auto* user = exchange.Find<auth::UserInfoPtr>();
    return user && *user && (*user)->name == auth::kAPIServerUser;
  }

  RequestMetrics& metrics_;
  InstalledCheck installed_;
};

class FilterStarted final : public http::Filter {
 public:
  explicit FilterStarted(const Clock& clock) : clock_(clock) {}
  std::string_view name() const override { return "filter-started"; }
  http::Step Begin(http::Exchange& exchange) const override {
    const auto now = exchange.FilterBegan(clock_);
    if (const auto* times = exchange.Find<FilterTimes>()) {
      times->began = now;
    } else {
      exchange.Set(FilterTimes{.began = now});
    }
    return http::Step::Next();
  }

 private:
  const Clock& clock_;
};

// Measures the filters since NewFilterStarted; the filters after it may be measured by another one.
class FilterCompleted final : public http::Filter {
 public:
  FilterCompleted(metrics::Histogram& duration, const MeasuredFilter& filter)
      : duration_(duration), filter_(filter.name), traced_(filter.traced), clock_(*filter.clock) {}
  std::string_view name() const override { return "filter-completed"; }
  http::Step Begin(http::Exchange& exchange) const override {
    const auto& times = exchange.Get<FilterTimes>();
    auto now =
        times.ended ? *std::exchange(times.ended, std::nullopt) : exchange.FilterBegan(clock_);
    const auto took = now - times.began;
    duration_.Observe(std::chrono::duration<double>(took).count());
    if (traced_) {
      trace::Span span = trace::StartSpan(exchange.ctx(), filter_, {.age = took});
      // The cost of a span must not count for the filter that is measured next.
      if (span.recording()) {
        span.End();
        now = clock_.Now();
      }
    }
    times.began = now;
    return http::Step::Next();
  }

 private:
  metrics::Histogram& duration_;
  const std::string filter_;
  const bool traced_;
  const Clock& clock_;
};

}  // namespace

FilterPtr NewRequestMetrics(RequestMetrics& metrics, InstalledCheck installed) {
  return std::make_unique<RequestMetricsFilter>(metrics, std::move(installed));
}
FilterPtr NewFilterStarted(const Clock& clock) { return std::make_unique<FilterStarted>(clock); }
FilterPtr NewFilterCompleted(RequestMetrics& metrics, const MeasuredFilter& filter) {
  return std::make_unique<FilterCompleted>(metrics.FilterDuration(filter.name), filter);
}

}  // namespace apiserver::v0::server
