#include "server/filters/exempt.h"
#include "server/filters/filters.h"

namespace apiserver::v0::server {

namespace {

// Implements k8s.io/apiserver/pkg/server/filters.WithRetryAfter.
class RetryAfter final : public http::Filter {
 public:
  explicit RetryAfter(const LifecycleSignal& not_accepting) : not_accepting_(not_accepting) {}

  std::string_view name() const override { return "retry-after"; }

  http::Step Begin(http::Exchange& exchange) const override {
    if (!not_accepting_.Signaled() || ExemptFromRetryAfter(exchange.request())) {
      return http::Step::Next();
    }
    exchange.writer().Send({.code = 429,
                            .headers = {{"Content-Type", "text/plain; charset=utf-8"},
                                        {"X-Content-Type-Options", "nosniff"},
                                        {"Retry-After", "5"}},
                            .close_connection = true},
                           "The apiserver is shutting down, please try again later.\n");
    return http::Step::Done();
  }

 private:
  const LifecycleSignal& not_accepting_;
};

}  // namespace

FilterPtr NewRetryAfter(const LifecycleSignal& not_accepting) {
  return std::make_unique<RetryAfter>(not_accepting);
}

}  // namespace apiserver::v0::server
