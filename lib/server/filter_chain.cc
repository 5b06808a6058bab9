#include "server/filter_chain.h"

#include <utility>

#include "server/filters/filters.h"
#include "server/requests/flow_control.h"

namespace apiserver::v0::server {

namespace {

// Returns the filter's name in apiserver_request_filter_duration_seconds and in traces, which are
// upstream's. Empty: the filter is not measured, because it takes no time.
std::string_view MeasuredAs(std::string_view filter) {
  if (filter == "priority-and-fairness") return "priorityandfairness";
  const bool measured = filter == "authentication" || filter == "audit" ||
                        filter == "impersonation" || filter == "authorization";
  return measured ? filter : "";
}

// Returns the filter that limits requests in flight. Null: there is no limit.
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

// Builds a chain and puts the filters that measure others around them.
class ChainBuilder {
 public:
  explicit ChainBuilder(const FilterConfig& config) : config_(config) {}

  // Consecutive measured filters share one clock reading: the end of one is the start of the next.
  void operator()(FilterPtr filter) {
    const std::string_view name = MeasuredAs(filter->name());
    const bool measured = !name.empty();
    if (measured && !before_measured_) chain_.push_back(NewFilterStarted(*config_.clock));
    before_measured_ = measured;
    chain_.push_back(std::move(filter));
    if (!measured) return;
    chain_.push_back(NewFilterCompleted(
        *config_.metrics,
        {.name = name, .traced = config_.tracer != nullptr, .clock = config_.clock}));
  }
  // A host's filter is not measured, whatever its name is.
  void Add(const SharedFilters& filters) {
    for (const auto& filter : filters) {
      chain_.push_back(NewHostFilter(filter));
      before_measured_ = false;
    }
  }
  http::FilterChain Take() { return std::move(chain_); }

 private:
  const FilterConfig& config_;
  http::FilterChain chain_;
  bool before_measured_ = false;
};

// The filters in front of authentication: they protect the server and mark every answer.
void AddForAnyClient(ChainBuilder& then, const FilterConfig& config) {
  // First, so that every answer, also one that a later filter gives, names its audit id.
  then(NewAuditId(*config.random));
  // Before anything that may take time: what counts is when the request came.
  then(NewMuxComplete(config.signals->mux_and_discovery_complete));
  // Everything below asks the RequestInfo what the request is about.
  then(NewRequestInfo(config.long_running));
  // Around all filters that take time.
  then(NewLatencyTrackers());
  // Stands in front of all filters that answer, with errors too.
  if (config.cbor) then(NewCbor());
  // Around all filters that answer, so that refusals are logged too.
  then(NewAccessLog(*config.clock, *config.log));
  // Before the request counts as one that the shutdown waits for.
  if (config.send_retry_after) then(NewRetryAfter(config.signals->not_accepting_new_request));
  // Sets the header of every response, including those of rejected requests.
  if (!config.hsts_directives.empty()) then(NewHsts(config.hsts_directives));
  // For every response: none may be cached unless a handler says so.
  then(NewCacheControl());
  // On every answer: any connection may be closed.
  if (config.goaway_chance > 0) then(NewGoaway(config.goaway_chance, *config.random));
  // Before anything that takes long, so that stopping knows of every request it must wait for.
  then(NewInFlight(*config.in_flight));
  // Before authentication, so that a slow look-up there is bounded too.
  then(NewDeadline(config.request_timeout, *config.clock, config.metrics));
  // Before authentication, which may warn.
  then(NewWarnings());
  // Before authentication: a browser's preflight request carries no credentials.
  if (!config.cors_allowed_origins.empty()) then(NewCors(config.cors_allowed_origins));
  // Stands behind what protects the server from any client (the deadline, the count of requests to
  // wait for when it stops), and in front of authentication, because these pages need none.
  then(NewPublicPath(config.public_path));
  // Here the host's filters see the request as it came, credentials included.
  then.Add(config.before_authentication);
}

// Authentication and all filters behind it.
void AddForUsers(ChainBuilder& then, const FilterConfig& config) {
  // Around authentication, so that failed attempts are recorded too, and the user it finds.
  if (config.auditing) then(NewAuditInit(*config.auditing));
  then(NewAuthentication(config.authentication));
  // Behind authentication: only trusted users decide whether a request is traced.
  if (config.tracer) then(NewTracing(*config.tracer));
  // The audit policy looks at the user. Requests refused from here on are recorded.
  if (config.auditing) then(NewAudit(*config.auditing));
  // Stands behind the audit, which names both users; the filters below see the impersonated user
  // only.
  then(NewImpersonation({.authorizer = config.authorizer,
                         .constrained = config.constrained_impersonation,
                         .clock = config.clock,
                         .metrics = config.authentication.metrics}));
  // The user is final from here on, so memory is charged to it.
  then(NewTenant());
  // Stands behind the user, which decides the priority level, and in front of all expensive work.
  if (auto limit = NewFlowControl(config)) then(std::move(limit));
  // Last of the checks, so that no handler can be reached without it.
  then(NewAuthorization({.authorizer = config.authorizer,
                         .clock = config.clock,
                         .metrics = config.authentication.metrics,
                         .log = config.authentication.log}));
  // The user is known and allowed: the last place before the server looks for a handler.
  then.Add(config.after_authorization);
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
}

}  // namespace

// Follows DefaultBuildHandlerChain of apiserver/server/config.go, whose list reads from the last
// filter to the first.
http::FilterChain DefaultFilterChain(const FilterConfig& config) {
  ChainBuilder then(config);
  AddForAnyClient(then, config);
  AddForUsers(then, config);
  return then.Take();
}

}  // namespace apiserver::v0::server
