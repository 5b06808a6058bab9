#include "apiserver/request/latency.h"
#include "server/filters/filters.h"

namespace apiserver::v0::server {

namespace {

// Implements k8s.io/apiserver/pkg/endpoints/filters/webhook_duration.go. Watches, which stay open
// for hours, are left out there too.
class LatencyTrackersFilter final : public http::Filter {
 public:
  std::string_view name() const override { return "latency-trackers"; }
  http::Step Begin(http::Exchange& exchange) const override {
    if (std::string_view(exchange.Get<request::RequestInfo>().verb) != "watch") {
      exchange.Set(request::LatencyTrackers());
    }
    return http::Step::Next();
  }
};

}  // namespace

FilterPtr NewLatencyTrackers() { return std::make_unique<LatencyTrackersFilter>(); }

}  // namespace apiserver::v0::server
