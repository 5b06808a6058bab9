#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/auth/authenticator.h"
#include "apiserver/auth/authorizer.h"
#include "apiserver/authn/request_header.h"
#include "apiserver/base/clock.h"
#include "apiserver/base/log.h"
#include "apiserver/base/metrics.h"
#include "apiserver/base/random.h"
#include "apiserver/http/exchange.h"
#include "apiserver/request/request_info.h"
#include "server/requests/impersonation.h"
#include "server/requests/in_flight.h"
#include "server/requests/lifecycle_signals.h"
#include "server/requests/request_metrics.h"

// The filters, each in the file of its name. server/filter_chain.cc has their order and the
// reasons.

namespace apiserver::inline v0::trace {
class Tracer;
}  // namespace apiserver::inline v0::trace

namespace apiserver::inline v0::server {

class Auditing;
class FlowControlParts;

using FilterPtr = std::unique_ptr<const http::Filter>;

// The request's Audit-ID header, or a new id; set as AuditId and returned as Audit-Id.
struct AuditId {
  std::string value;
};
FilterPtr NewAuditId(Random& random);
// Returns whether a request to a subresource is long-running. Null: none is.
using LongRunningCheck =
    std::function<bool(const request::RequestInfo& info, std::string_view method)>;
// Sets request::RequestInfo.
FilterPtr NewRequestInfo(LongRunningCheck check = nullptr);
// Sets request::LatencyTrackers, except for watches.
FilterPtr NewLatencyTrackers();
// Adds `Cache-Control: no-cache, private`, unless the response has a Cache-Control.
FilterPtr NewCacheControl();
// Sets response::ServesCbor.
FilterPtr NewCbor();
// Marks requests that came before everything was installed; a 404 to one of them is not final.
struct BeforeMuxComplete {};
FilterPtr NewMuxComplete(const LifecycleSignal& complete);
// Answers 429 with Retry-After while the server stops, and closes the connection.
FilterPtr NewRetryAfter(const LifecycleSignal& not_accepting);
// Adds Strict-Transport-Security with these directives.
FilterPtr NewHsts(const std::vector<std::string>& directives);
// Sends HTTP/2 clients to another connection, with this chance for each response.
FilterPtr NewGoaway(double chance, Random& random);
// Runs a filter of the host, which is not null.
FilterPtr NewHostFilter(std::shared_ptr<const http::Filter> filter);
// Answers GET and HEAD with `handler`, which returns Next for paths that are not public.
FilterPtr NewPublicPath(http::Handler handler);
// Lets scripts of pages from these origins (regular expressions that compile) read answers.
FilterPtr NewCors(const std::vector<std::string>& allowed_origins);
// Registers the request with `in_flight`; refuses new ones while the server stops.
FilterPtr NewInFlight(InFlight& in_flight);
// Answers 504 after `longest`, or after the query's `timeout` if that is shorter; not for watches.
FilterPtr NewDeadline(std::chrono::milliseconds longest, const Clock& clock,
                      RequestMetrics* metrics = nullptr);
// Sets rest::WarningRecorderPtr and sends the collected warnings.
FilterPtr NewWarnings();
struct AuthenticationOptions {
  const auth::Authenticator* authenticator = nullptr;  // Null: only the loopback is authenticated.
  std::string loopback_token = {};
  // The values of Config::api_audiences and Config::request_headers.
  std::vector<std::string> api_audiences = {};
  authn::RequestHeaderNamesSource request_headers = nullptr;
  // The feature gate UnauthenticatedHTTP2DOSMitigation.
  bool close_unauthenticated_http2 = true;
  const Clock* clock = &RealClock();
  metrics::Registry* metrics = nullptr;  // Null: nothing is counted.
  LogSink* log = &NullLogSink();
};
// Sets auth::UserInfoPtr or answers 401; answers 429 if too many look-ups at another server are in
// flight. Removes the credentials from the request.
FilterPtr NewAuthentication(AuthenticationOptions options);
// Begins a span for every request, which is current from here on. A request whose user is in no
// trusted group begins a new trace. `tracer` outlives the filter.
FilterPtr NewTracing(const trace::Tracer& tracer);
// The authenticated user of a request that impersonates another; a value of its exchange.
struct ImpersonatedBy {
  auth::UserInfoPtr original;  // Never null.
};
// Replaces auth::UserInfoPtr by the user that the headers Impersonate-* name, and sets
// ImpersonatedBy; answers 403 unless the authorizer allows it. Removes the headers from the
// request.
FilterPtr NewImpersonation(const ImpersonationOptions& options);
// Logs a line a request at level debug; see server/access_log.h.
FilterPtr NewAccessLog(const Clock& clock, LogSink& log);
// Sets audit::AuditContextPtr, and records requests that are answered 401.
FilterPtr NewAuditInit(const Auditing& auditing);
// Asks the audit policy, and records the stages of the request.
FilterPtr NewAudit(const Auditing& auditing);
// Returns true for requests to installed resources.
using InstalledCheck = std::function<bool(const request::RequestInfo& info)>;
// The counters of requests that flow control refuses.
struct RefusalMetrics {
  RequestMetrics* metrics = nullptr;   // Null: they are not counted.
  InstalledCheck installed = nullptr;  // Required with `metrics`.
};
// Rejects requests over the limit with 429 immediately.
FilterPtr NewMaxInFlight(FlowControlParts& parts, RefusalMetrics counted = {});
// Classifies and queues requests; answers 429 if the queue is full or no seat is free in time.
// `parts` has a controller.
FilterPtr NewPriorityAndFairness(FlowControlParts& parts, std::chrono::milliseconds request_timeout,
                                 const Clock& clock, RefusalMetrics counted = {});
// Counts the responses of handlers.
FilterPtr NewRequestMetrics(RequestMetrics& metrics, InstalledCheck installed);
// A filter that is measured; see filter_times.h.
struct MeasuredFilter {
  std::string_view name;
  bool traced = false;  // A span shows it.
  const Clock* clock = &RealClock();
};
// These two measure the filters between them. The second may be followed by another filter and
// another NewFilterCompleted, which measures that one.
FilterPtr NewFilterStarted(const Clock& clock);
FilterPtr NewFilterCompleted(RequestMetrics& metrics, const MeasuredFilter& filter);
struct AuthorizationOptions {
  const auth::Authorizer* authorizer = nullptr;  // Null: everything is allowed.
  const Clock* clock = &RealClock();
  metrics::Registry* metrics = nullptr;  // Null: nothing is counted.
  LogSink* log = &NullLogSink();
};
// Answers 403 unless the authorizer allows the request; 500 in plain text when it fails. Annotates
// the audit event.
FilterPtr NewAuthorization(AuthorizationOptions options);
// Charges the request's memory to its user.
FilterPtr NewTenant();
// Calls `ask` for each request that has a body. Next: the handler reads the body. Any other step is
// the answer.
FilterPtr NewBeforeBody(http::Handler ask);
// Reads the body of a request that may have one; 413 over `bytes_max`. The request gives up its
// seat while the body is still to come (see seat.h).
FilterPtr NewBody(std::size_t bytes_max);
// Takes back the seat that NewBody gave up.
FilterPtr NewSeatAgain();
// Waits until there is memory to decode the body; 429 if there is none in time, and for writes of a
// tenant that does not read its responses.
FilterPtr NewDecodingRoom();

// True if the request may stay open for long: a GET that is a watch, and the requests that the
// check of NewRequestInfo names.
bool IsLongRunning(const http::Exchange& exchange);

}  // namespace apiserver::inline v0::server
