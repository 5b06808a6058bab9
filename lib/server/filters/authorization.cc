#include "base/status_macros.h"
#include "server/filters/attributes.h"
#include "server/filters/filters.h"
#include "server/filters/forbidden.h"
#include "server/filters/look_ups.h"

namespace apiserver::inline v0::server {

namespace {

class Authorization final : public http::Filter {
 public:
  explicit Authorization(const auth::Authorizer* authorizer) : authorizer_(authorizer) {}

  std::string_view name() const override { return "authorization"; }

  http::Step Begin(http::Exchange& exchange) const override {
    if (!authorizer_) return http::Step::Next();
    return BeginWithLookUps(exchange, [this, &exchange] { return Ask(exchange); });
  }

 private:
  Result<http::Step> Ask(http::Exchange& exchange) const {
    const auth::Attributes attributes = AttributesOf(exchange);
    ASSIGN_OR_RETURN(const auth::Verdict verdict,
                     authorizer_->Authorize(exchange.ctx(), attributes));
    if (verdict.decision == auth::Decision::kAllow) return http::Step::Next();
    return ForbiddenStatusError(attributes, verdict.reason);
  }

  const auth::Authorizer* authorizer_;
};

}  // namespace

FilterPtr NewAuthorization(const auth::Authorizer* authorizer) {
  return std::make_unique<Authorization>(authorizer);
}

}  // namespace apiserver::inline v0::server
