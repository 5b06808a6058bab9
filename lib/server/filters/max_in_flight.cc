#include <atomic>
#include <utility>

#include "apiserver/auth/user.h"
#include "server/filters/filters.h"
#include "server/filters/seat.h"
#include "server/filters/too_many_requests.h"
#include "server/requests/flow_control.h"

namespace apiserver::v0::server {

namespace {

// Set in the exchange of a counted request.
struct InFlightSeat {
  bool mutating;
  bool taken = true;
};

// Implements k8s.io/apiserver/pkg/server/filters/maxinflight.go: as many reads and as many writes
// at once as the limits allow; a rejected client may retry in a second.
class MaxInFlight final : public http::Filter, public Seat {
 public:
  MaxInFlight(FlowControlParts& parts, RefusalMetrics counted)
      : reads_max_(parts.config().max_requests_in_flight),
        mutating_max_(parts.config().max_mutating_requests_in_flight),
        watermarks_(parts.watermarks()),
        clock_(parts.clock()),
        counted_(std::move(counted)) {}

  std::string_view name() const override { return "max-in-flight"; }

  http::Step Begin(http::Exchange& exchange) const override {
    if (IsLongRunning(exchange)) return http::Step::Next();
    const bool mutating = flowcontrol::IsMutatingRequest(exchange.Get<request::RequestInfo>());
    const int most = mutating ? mutating_max_ : reads_max_;
    if (most == 0) return http::Step::Next();
    if (Enter(mutating, most)) {
      exchange.Set(InFlightSeat{mutating});
      if (exchange.has_body()) exchange.Set(SeatTaken{this});
      return http::Step::Next();
    }
    // Requests of this group are never rejected.
    if (exchange.Get<auth::UserInfoPtr>()->InGroup(auth::kSystemPrivilegedGroup)) {
      return http::Step::Next();
    }
    return TooManyRequests(exchange, 1, counted_);
  }

  void GiveUp(http::Exchange& exchange) const override { Leave(exchange); }

  http::Step TakeAgain(http::Exchange& exchange) const override {
    auto* const seat = exchange.ctx().Mutable<InFlightSeat>();
    if (seat->taken) return http::Step::Next();
    const int most = seat->mutating ? mutating_max_ : reads_max_;
    seat->taken = Enter(seat->mutating, most);
    if (seat->taken || exchange.Get<auth::UserInfoPtr>()->InGroup(auth::kSystemPrivilegedGroup)) {
      return http::Step::Next();
    }
    return TooManyRequests(exchange, 1, counted_);
  }

  void Head(http::Exchange& exchange, http::ResponseHead&) const override {
    // Sending the response takes no seat.
    if (exchange.answer_is_made()) Leave(exchange);
  }

  void End(http::Exchange& exchange, const http::Outcome&) const override { Leave(exchange); }

 private:
  void Leave(http::Exchange& exchange) const {
    auto* const seat = exchange.ctx().Mutable<InFlightSeat>();
    if (!seat || !std::exchange(seat->taken, false)) return;
    Count(seat->mutating).fetch_sub(1, std::memory_order_relaxed);
    watermarks_.executing(seat->mutating).Add(-1, clock_.Now());
  }

  std::atomic<int>& Count(bool mutating) const { return mutating ? mutating_ : reads_; }

  bool Enter(bool mutating, int most) const {
    std::atomic<int>& count = Count(mutating);
    int now = count.load(std::memory_order_relaxed);
    do {
      if (now >= most) return false;
    } while (!count.compare_exchange_weak(now, now + 1, std::memory_order_relaxed));
    watermarks_.executing(mutating).Add(1, clock_.Now());
    return true;
  }

  const int reads_max_;
  const int mutating_max_;
  flowcontrol::Watermarks& watermarks_;
  const Clock& clock_;
  const RefusalMetrics counted_;
  mutable std::atomic<int> reads_{0};
  mutable std::atomic<int> mutating_{0};
};

}  // namespace

FilterPtr NewMaxInFlight(FlowControlParts& parts, RefusalMetrics counted) {
  return std::make_unique<MaxInFlight>(parts, std::move(counted));
}

}  // namespace apiserver::v0::server
