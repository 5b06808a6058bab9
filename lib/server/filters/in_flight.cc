#include "server/requests/in_flight.h"

#include "apiserver/meta/errors.h"
#include "server/filters/exempt.h"
#include "server/filters/filters.h"

namespace apiserver::v0::server {

namespace {

struct InFlightId {
  std::uint64_t value;
};

// Implements both WithWaitGroup and WithWatchTerminationDuringShutdown of
// k8s.io/apiserver/pkg/server/filters.
class InFlightFilter final : public http::Filter {
 public:
  explicit InFlightFilter(InFlight& in_flight) : in_flight_(in_flight) {}

  std::string_view name() const override { return "in-flight"; }

  http::Step Begin(http::Exchange& exchange) const override {
    const std::uint64_t id = in_flight_.Enter(exchange.ctx(), KindOf(exchange));
    if (id == 0) {
      // The next attempt most likely meets another server, so it may come soon.
      return meta::NewServiceUnavailable("apiserver is shutting down")
          .WithDetails({.retry_after_seconds = 1});
    }
    exchange.Set(InFlightId{id});
    return http::Step::Next();
  }

  // An upgraded connection has no end of its own, whatever the request was for: a stop ends it.
  void Head(http::Exchange& exchange, http::ResponseHead& head) const override {
    if (head.code != 101) return;
    const InFlightId* const id = exchange.Find<InFlightId>();
    if (id == nullptr) return;
    exchange.Set(InFlightId{in_flight_.Prolong(id->value, exchange.ctx())});
  }

  void End(http::Exchange& exchange, const http::Outcome&) const override {
    if (const InFlightId* id = exchange.Find<InFlightId>()) in_flight_.Leave(id->value);
  }

 private:
  static InFlight::Kind KindOf(const http::Exchange& exchange) {
    if (IsLongRunning(exchange)) return InFlight::Kind::kLong;
    return ExemptFromRetryAfter(exchange.request()) ? InFlight::Kind::kProbe
                                                    : InFlight::Kind::kShort;
  }

  InFlight& in_flight_;
};

}  // namespace

FilterPtr NewInFlight(InFlight& in_flight) { return std::make_unique<InFlightFilter>(in_flight); }

}  // namespace apiserver::v0::server
