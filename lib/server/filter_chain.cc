#include "server/filter_chain.h"

#include <utility>

#include "server/filters/filters.h"
#include "server/requests/flow_control.h"

namespace apiserver::v0::server {

namespace {

// Returns the filter's name in apiserver_request_filter_duration_seconds and in traces, as
// upstream's. Empty: the filter is not measured.
std::string_view MeasuredAs(std::string_view filter) {
  if (filter == "priority-and-fairness") return "priorityandfairness";
  const bool measured = filter == "authentication" || filter == "audit" ||
                        filter == "impersonation" || filter == "authorization";
  return measured ? filter : "";
}

// Makes the filter of the configured mode. Null: there is no limit.
FilterPtr NewFlowControl(const FilterConfig& config) {
  FlowControlParts& parts = *config.flow_control;
  const RefusalMetrics counted{.metrics = config.metrics, .installed = config.installed};
  switch (parts.config().mode) {
    case FlowControlConfig::Mode::kPriorityAndFairness:
      return NewPriorityAndFairness(parts, config.request_timeout, *config.clock, counted);
    case FlowControlConfig::Mode::kMaxInFlight:
      return NewMaxInFlight(parts, counted);
    case FlowControlConfig::Mode::kNone:
      break;
  }
  return nullptr;
}

// Builds the chain, and puts measuring filters around those that may take time.
class ChainBuilder {
 public:
  explicit ChainBuilder(const FilterConfig& config) : config_(config) {}

  void operator()(FilterPtr filter) {
    const std::string_view name = MeasuredAs(filter->name());
    const bool measured = !name.empty();
    if (measured && !before_measured_) chain_.push_back(NewFilterStarted());
    before_measured_ = measured;
    chain_.push_back(std::move(filter));
    if (!measured) return;
    chain_.push_back(NewFilterCompleted(*config_.metrics, name, config_.tracer != nullptr));
  }
  http::FilterChain Take() { return std::move(chain_); }

 private:
  const FilterConfig& config_;
  http::FilterChain chain_;
  bool before_measured_ = false;
};

}  // namespace

http::FilterChain DefaultFilterChain(const FilterConfig& config) {
  ChainBuilder then(config);
  // First, so that every answer, also one that a later filter gives, names its audit id.
  then(NewAuditId(*config.random));
  // Before anything that may take time: what counts is when the request came.
  then(NewMuxComplete(config.signals->mux_and_discovery_complete));
  // Everything below asks the RequestInfo what the request is about.
  then(NewRequestInfo(config.long_running));
  // Around all filters that may take time.
  then(NewLatencyTrackers());
  // Before every filter that may respond, with errors too.
  if (config.cbor) then(NewCbor());
  // Around every filter that may respond, so that rejected requests are logged too.
  then(NewAccessLog(*config.clock, *config.log));
  // Before the request counts as one that the shutdown waits for.
  if (config.send_retry_after) then(NewRetryAfter(config.signals->not_accepting_new_request));
  // Sets the header of every response, including those of rejected requests.
  if (!config.hsts_directives.empty()) then(NewHsts(config.hsts_directives));
  // For every response: none may be cached unless a handler says so.
  then(NewCacheControl());
  // May close the connection of any response, so it sees them all.
  if (config.goaway_chance > 0) then(NewGoaway(config.goaway_chance, *config.random));
  // Before anything that takes long, so that stopping knows of every request it must wait for.
  then(NewInFlight(*config.in_flight));
  // Before authentication, so that a slow look-up there is bounded too.
  then(NewDeadline(config.request_timeout, *config.clock, config.metrics));
  // Before authentication, which may warn.
  then(NewWarnings());
  // Before authentication: a browser's preflight request carries no credentials.
  if (!config.cors_allowed_origins.empty()) then(NewCors(config.cors_allowed_origins));
  // Around authentication, so that the audit event has failed authentication too, and the user that
  // it found.
  if (config.auditing) then(NewAuditInit(*config.auditing));
  then(NewAuthentication(config.authentication));
  // Behind authentication: only an authenticated client may decide whether its request is sampled.
  if (config.tracer) then(NewTracing(*config.tracer));
  // After authentication: the policy depends on the user. All rejections from here on are audited.
  if (config.auditing) then(NewAudit(*config.auditing));
  // After auditing, which records both users; the filters below see only the impersonated one.
  then(NewImpersonation({.authorizer = config.authorizer,
                         .constrained = config.constrained_impersonation,
                         .clock = config.clock,
                         .metrics = config.authentication.metrics}));
  // After impersonation: memory is charged to the user that it sets.
  then(NewTenant());
  // After authentication, which sets the user, and before any expensive work for the request.
  if (auto limit = NewFlowControl(config)) then(std::move(limit));
  // Last of the checks, so that no handler can be reached without it.
  then(NewAuthorization({.authorizer = config.authorizer,
                         .clock = config.clock,
                         .metrics = config.authentication.metrics,
                         .log = config.authentication.log}));
  // Around routing and the body, which are part of the handlers in Go: their answers are counted.
  then(NewRequestMetrics(*config.metrics, config.installed));
  // The router is asked before a body is read: a request that ends as 404, 405, 406 or 415 must not
  // hold memory and a seat while its client sends slowly. Behind authorization, so that a client
  // without permission does not learn what is served.
  then(NewBeforeBody(config.before_body));
  // Only an authorized request, to a handler that reads it, may make the server hold a body.
  then(NewBody(config.body_bytes_max));
  // The body may have taken long, and the request gave up its seat meanwhile.
  then(NewSeatAgain());
  // Reserves memory only once the request has a seat and uses it at once.
  then(NewDecodingRoom());
  return then.Take();
}

}  // namespace apiserver::v0::server
