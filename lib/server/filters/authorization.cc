#include <optional>
#include <string>
#include <utility>

#include "apiserver/audit/context.h"
#include "apiserver/base/field_path.h"
#include "apiserver/request/latency.h"
#include "endpoints/handlers/forbidden.h"
#include "request/attributes.h"
#include "response/no_sniff.h"
#include "server/filters/authorization_metrics.h"
#include "server/filters/filter_times.h"
#include "server/filters/filters.h"
#include "server/filters/look_ups.h"

namespace apiserver::v0::server {

namespace {

constexpr std::string_view kDecisionAnnotation = "authorization.k8s.io/decision";
constexpr std::string_view kReasonAnnotation = "authorization.k8s.io/reason";

// Runs in Begin() for every request, and again for one that waited for a webhook.
class Authorization final : public http::Filter {
 public:
  explicit Authorization(AuthorizationOptions options) : options_(options) {
    if (options_.metrics) metrics_.emplace(*options_.metrics);
  }

  std::string_view name() const override { return "authorization"; }

  http::Step Begin(http::Exchange& exchange) const override {
    if (!options_.authorizer) return http::Step::Next();
    const Clock::Monotonic start = BeganAt(exchange, *options_.clock);
    return BeginWithLookUps(exchange, [this, &exchange, start] { return Ask(exchange, start); });
  }

 private:
  Result<http::Step> Ask(http::Exchange& exchange, Clock::Monotonic start) const {
    // These are the attributes that the director and the handlers use too: nothing is parsed again.
    const auth::Attributes asked = request::AttributesOf(exchange);
    const Result<auth::Verdict> verdict = options_.authorizer->Authorize(exchange.ctx(), asked);
    if (verdict.status().reason() == Reason::kWouldBlock) return verdict.status();
    const auto took = EndedAt(exchange, *options_.clock) - start;
    request::TrackLatency(exchange.ctx(), request::Layer::kAuthorization, took);
    if (metrics_) metrics_->Count(verdict, took);
    if (!verdict.ok()) {
      audit::AddAnnotation(exchange.ctx(), kReasonAnnotation, "internal error");
      return InternalError(exchange, verdict.status());
    }
    const bool allowed = verdict->decision == auth::Decision::kAllow;
    audit::AddAnnotations(exchange.ctx(), {{kDecisionAnnotation, allowed ? "allow" : "forbid"},
                                           {kReasonAnnotation, verdict->reason}});
    if (allowed) return http::Step::Next();
    // Browsers must not take the refusal, which repeats parts of the request, for a page.
    exchange.Set(response::NoSniff());
    return endpoints::ForbiddenStatusError(asked, verdict->reason);
  }

  // Answers as responsewriters.InternalError does: plain text with the request's URI.
  http::Step InternalError(http::Exchange& exchange, const Status& error) const {
    const std::string& uri = exchange.request().target;
    Log(*options_.log, LogLevel::kError, "authorization failed",
        {{"uri", uri}, {"err", std::string(error.message())}});
    const std::string text =
        "Internal Server Error: " + field::Quote(uri) + ": " + std::string(error.message());
    exchange.writer().Send({.code = 500,
                            .headers = {{"Content-Type", "text/plain; charset=utf-8"},
                                        {"X-Content-Type-Options", "nosniff"}}},
                           http::Bytes(endpoints::Sanitized(text) + "\n"));
    return http::Step::Done();
  }

  const AuthorizationOptions options_;
  std::optional<AuthorizationMetrics> metrics_;
};

}  // namespace

FilterPtr NewAuthorization(AuthorizationOptions options) {
  return std::make_unique<Authorization>(options);
}

}  // namespace apiserver::v0::server
