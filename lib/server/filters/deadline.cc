#include <algorithm>

#include "apiserver/meta/errors.h"
#include "server/filters/filters.h"
#include "server/go_duration.h"

namespace apiserver::inline v0::server {

namespace {

// Disarms the timer when the exchange is over.
struct Armed {
  Executor::Cancel cancel;
};

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
    exchange.ctx() = Context::Child(exchange.ctx(), clock_.Now() + allowed);
    // Weak, so that a request that is over does not live on until its deadline.
    exchange.Set(Armed{exchange.loop().PostAfter(
        allowed, [weak = std::weak_ptr<http::Exchange>(exchange.Share())] {
          if (auto live = weak.lock()) {
            live->EndEarly(
                meta::NewTimeoutError("request did not complete within the allotted timeout", 0));
          }
        })});
    return http::Step::Next();
  }

  void End(http::Exchange& exchange, const http::Outcome&) const override {
    Armed* armed = exchange.ctx().Mutable<Armed>();
    if (armed && armed->cancel) armed->cancel();
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
