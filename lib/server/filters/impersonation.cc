#include <memory>
#include <utility>

#include "apiserver/audit/context.h"
#include "apiserver/request/latency.h"
#include "request/attributes.h"
#include "response/no_sniff.h"
#include "server/filters/filters.h"
#include "server/filters/look_ups.h"
#include "server/requests/impersonation.h"

namespace apiserver::v0::server {

namespace {

class ImpersonationFilter final : public http::Filter {
 public:
  explicit ImpersonationFilter(const ImpersonationOptions& options)
      : impersonation_(options), clock_(*options.clock) {}

  std::string_view name() const override { return "impersonation"; }

  http::Step Begin(http::Exchange& exchange) const override {
    // Without impersonation headers this filter costs a look at the headers.
    const auto wanted = WantedUserOf(exchange.request().headers);
    if (!wanted.ok()) return Refuse(exchange, wanted.status());
    if (!*wanted) return http::Step::Next();
    const Clock::Monotonic start = clock_.Now();
    return BeginWithLookUps(exchange, [this, &exchange, user = **wanted, start] {
      auto step = Become(exchange, user);
      // Otherwise the attempt is repeated.
      if (step.status().reason() != Reason::kWouldBlock) {
        request::TrackLatency(exchange.ctx(), request::Layer::kImpersonation, clock_.Now() - start);
      }
      return step;
    });
  }

 private:
  static http::Step Refuse(http::Exchange& exchange, const Status& why) {
    exchange.Set(response::NoSniff());
    return why;
  }

  // The headers are removed, so that no server behind this one impersonates once more.
  Result<http::Step> Become(http::Exchange& exchange, const auth::UserInfo& wanted) const {
    const auth::Attributes attributes = request::AttributesOf(exchange);
    Result<ImpersonatedUser> found = impersonation_.Check(exchange.ctx(), wanted, attributes);
    if (found.status().reason() == Reason::kWouldBlock) return found.status();
    if (!found.ok()) return Refuse(exchange, found.status());
    RemoveImpersonationHeaders(exchange.request().headers);
    exchange.Set(ImpersonatedBy{attributes.user});
    audit::LogImpersonatedUser(exchange.ctx(), found->user, found->constraint);
    exchange.Set(std::move(found->user));
    return http::Step::Next();
  }

  const Impersonation impersonation_;
  const Clock& clock_;
};

}  // namespace

FilterPtr NewImpersonation(const ImpersonationOptions& options) {
  return std::make_unique<ImpersonationFilter>(options);
}

}  // namespace apiserver::v0::server
