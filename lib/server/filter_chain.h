#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/auth/authorizer.h"
#include "apiserver/base/clock.h"
#include "apiserver/base/random.h"
#include "apiserver/http/exchange.h"
#include "apiserver/request/request_info.h"
#include "server/filters/filters.h"
#include "server/requests/in_flight.h"
#include "server/requests/lifecycle_signals.h"
#include "server/requests/request_metrics.h"

namespace apiserver::inline v0::server {

class Auditing;

using SharedFilters = std::vector<std::shared_ptr<const http::Filter>>;

// The parameters of the filters; everything outlives the chain.
struct FilterConfig {
  AuthenticationOptions authentication;
  const auth::Authorizer* authorizer = nullptr;  // Null: allow.
  const Auditing* auditing = nullptr;            // Null: no auditing.
  const trace::Tracer* tracer = nullptr;         // Null: no traces.
  InFlight* in_flight = nullptr;
  const LifecycleSignals* signals = nullptr;
  bool send_retry_after = false;  // While the server stops.
  double goaway_chance = 0;
  std::vector<std::string> hsts_directives = {};       // Empty: no header.
  std::vector<std::string> cors_allowed_origins = {};  // Empty: no CORS.
  // Answers requests for public paths; Next for the others.
  http::Handler public_path;
  SharedFilters before_authentication = {};
  SharedFilters after_authorization = {};
  RequestMetrics* metrics = nullptr;
  // Returns whether the request's resource is served.
  std::function<bool(const request::RequestInfo& info)> installed;
  FlowControlParts* flow_control = nullptr;
  std::chrono::milliseconds request_timeout;
  std::size_t body_bytes_max = 0;
  // Answers requests whose handler reads no body; Next for the others.
  http::Handler before_body;
  bool cbor = false;                      // Feature gate CBORServingAndStorage.
  bool constrained_impersonation = true;  // Feature gate ConstrainedImpersonation.
  // Returns whether a request to a subresource is long-running. Null: none is.
  std::function<bool(const request::RequestInfo& info, std::string_view method)> long_running;
  LogSink* log = &NullLogSink();  // For the access log.
  const Clock* clock = nullptr;
  Random* random = nullptr;
};

// Returns all filters in the order in which a request meets them; the source has their reasons.
http::FilterChain DefaultFilterChain(const FilterConfig& config);

}  // namespace apiserver::inline v0::server
