#include <algorithm>

#include "apiserver/meta/errors.h"
#include "apiserver/rest/storage.h"
#include "apiserver/runtime/time.h"
#include "server/filters/filters.h"

namespace apiserver::v0::server {

namespace {

constexpr char kTimedOut[] = "request did not complete within the allotted timeout";

Status TimedOut() { return meta::NewTimeoutError(kTimedOut, 0); }

class Deadline final : public http::Filter {
 public:
  Deadline(std::chrono::milliseconds longest, const Clock& clock, RequestMetrics* metrics)
      : longest_(longest), clock_(clock), metrics_(metrics) {}

  std::string_view name() const override { return "deadline"; }

  // A client may shorten its time, never lengthen it, as in Go's WithRequestDeadline.
  http::Step Begin(http::Exchange& exchange) const override {
    if (IsLongRunning(exchange)) return http::Step::Next();
    std::chrono::nanoseconds allowed = longest_;
    const std::string_view wish = exchange.query().Get("timeout");
    if (!wish.empty()) {
      const auto parsed = runtime::ParseDuration(wish);
      if (!parsed.ok()) {
        return meta::NewBadRequest("invalid timeout specified in the request URL - " +
                                   std::string(parsed.status().message()));
      }
      if (*parsed > std::chrono::nanoseconds(0)) allowed = std::min(allowed, *parsed);
    }
    // The exchange has read the machine's clock already.
    const bool real = &clock_ == &RealClock();
    exchange.ctx().LimitTo((real ? exchange.received() : clock_.Now()) + allowed);
    exchange.EndEarlyAfter(allowed, http::Exchange::Span::kExchange, &TimedOut);
    return http::Step::Next();
  }

  void End(http::Exchange& exchange, const http::Outcome& outcome) const override {
    // 504: the deadline answered. Any other code without completion: it cut an answer that had
    // begun.
    const bool cut = !outcome.completed && outcome.code != 504;
    if (!metrics_ || !(cut || outcome.code == 504)) return;
    if (outcome.error.message() != TimedOut().message()) return;
    const auto* info = exchange.Find<request::RequestInfo>();
    // Only served resources are counted, so that the labels are bounded.
    if (!info || !exchange.Find<rest::Namespace>()) return;
    const RequestLabels labels = LabelsOf(exchange.request(), exchange.query(), *info);
    if (cut) return metrics_->RecordAbort(labels);
    metrics_->RecordTermination(labels, outcome.code);
  }

 private:
  std::chrono::milliseconds longest_;
  const Clock& clock_;
  RequestMetrics* metrics_;
};

}  // namespace

FilterPtr NewDeadline(std::chrono::milliseconds longest, const Clock& clock,
                      RequestMetrics* metrics) {
  return std::make_unique<Deadline>(longest, clock, metrics);
}

}  // namespace apiserver::v0::server
