#include <algorithm>

#include "apiserver/meta/errors.h"
#include "server/filters/filters.h"
#include "server/go_duration.h"

namespace apiserver::inline v0::server {

namespace {

Status TimedOut() {
  return meta::NewTimeoutError("request did not complete within the allotted timeout", 0);
}

class Deadline final : public http::Filter {
 public:
  Deadline(std::chrono::milliseconds longest, const Clock& clock)
      : longest_(longest), clock_(clock) {}

  std::string_view name() const override { return "deadline"; }

  http::Step Begin(http::Exchange& exchange) const override {
    if (IsLongRunning(exchange)) return http::Step::Next();
    std::chrono::nanoseconds allowed = longest_;
    const std::string_view wish = exchange.query().Get("timeout");
    if (!wish.empty()) {
      const auto parsed = ParseGoDuration(wish);
      if (!parsed) {
        return meta::NewBadRequest(
            "invalid timeout specified in the request URL - time: invalid duration " +
            field::Quote(wish));
      }
      if (*parsed > std::chrono::nanoseconds(0)) allowed = std::min(allowed, *parsed);
    }
    exchange.ctx().LimitTo(clock_.Now() + allowed);
    exchange.EndEarlyAfter(allowed, http::Exchange::Span::kExchange, &TimedOut);
    return http::Step::Next();
  }

 private:
  std::chrono::milliseconds longest_;
  const Clock& clock_;
};

}  // namespace

FilterPtr NewDeadline(std::chrono::milliseconds longest, const Clock& clock) {
  return std::make_unique<Deadline>(longest, clock);
}

}  // namespace apiserver::inline v0::server
