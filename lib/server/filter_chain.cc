#include "server/filter_chain.h"

#include <utility>

#include "server/filters/filters.h"
#include "server/requests/flow_control.h"

namespace apiserver::v0::server {

namespace {

// What apiserver_request_filter_duration_seconds and traces call a filter that may take time, as
// upstream does; empty: they show none.
std::string_view MeasuredAs(std::string_view filter) {
  if (filter == "priority-and-fairness") return "priorityandfairness";
  const bool measured = filter == "authentication" || filter == "audit" ||
                        filter == "impersonation" || filter == "authorization";
  return measured ? filter : "";
}

// Null: nothing limits what is done at once.
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

// A chain in the making, with what measures the filters that may take time between them.
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
  // Around whatever takes time.
  then(NewLatencyTrackers());
  // Before whatever answers, errors too.
  if (config.cbor) then(NewCbor());
  // Around whatever answers, so that refusals are logged too.
  then(NewAccessLog(*config.clock, *config.log));
  // Before the request is counted as one to wait for.
  if (config.send_retry_after) then(NewRetryAfter(config.signals->not_accepting_new_request));
  // On every answer, refusals too.
  if (!config.hsts_directives.empty()) then(NewHsts(config.hsts_directives));
  // Answers are not to be cached unless a handler says so.
  then(NewCacheControl());
  // Whatever the answer is, its connection may be the one to go.
  if (config.goaway_chance > 0) then(NewGoaway(config.goaway_chance, *config.random));
  // Before anything that takes long, so that stopping knows of every request it must wait for.
  then(NewInFlight(*config.in_flight));
  // Before authentication, so that a slow look-up there is bounded too.
  then(NewDeadline(config.request_timeout, *config.clock, config.metrics));
  // Before authentication, which may warn.
  then(NewWarnings());
  // Before authentication: a browser's preflight request carries no credentials.
  if (!config.cors_allowed_origins.empty()) then(NewCors(config.cors_allowed_origins));
  // Behind what protects the server from any client (the deadline, the count of requests to wait
  // for when it stops), and before authentication, because these pages are for everybody.
  then(NewPublicPath(config.public_path));
  // Here the host's filters see the request as it came, credentials included.
  then.Add(config.before_authentication);
}

// Authentication and all filters behind it.
void AddForUsers(ChainBuilder& then, const FilterConfig& config) {
  // Around authentication, so that who fails there is recorded too, and what it finds out.
  if (config.auditing) then(NewAuditInit(*config.auditing));
  then(NewAuthentication(config.authentication));
  // Behind authentication: only who is known to be trusted decides what is recorded.
  if (config.tracer) then(NewTracing(*config.tracer));
  // The policy asks who it is; what is refused from here on is recorded.
  if (config.auditing) then(NewAudit(*config.auditing));
  // Behind the audit, which names both users; everything below knows only who is acted as.
  then(NewImpersonation({.authorizer = config.authorizer,
                         .constrained = config.constrained_impersonation,
                         .clock = config.clock,
                         .metrics = config.authentication.metrics}));
  // From here on it is known whose request it is, so memory is charged to its user.
  then(NewTenant());
  // Where it is known whose request it is, and before anything dear is done for it.
  if (auto limit = NewFlowControl(config)) then(std::move(limit));
  // Nothing behind the chain can be reached around it.
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
  // A body may have taken its time; others had the seat meanwhile.
  then(NewSeatAgain());
  // With a seat, so that memory which is set aside is used at once.
  then(NewDecodingRoom());
}

}  // namespace

http::FilterChain DefaultFilterChain(const FilterConfig& config) {
  ChainBuilder then(config);
  AddForAnyClient(then, config);
  AddForUsers(then, config);
  return then.Take();
}

}  // namespace apiserver::v0::server
