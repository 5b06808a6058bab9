#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/admission/admission.h"
#include "apiserver/auth/authenticator.h"
#include "apiserver/auth/authorizer.h"
#include "apiserver/authn/request_header.h"
#include "apiserver/base/clock.h"
#include "apiserver/base/context.h"
#include "apiserver/base/executor.h"
#include "apiserver/base/log.h"
#include "apiserver/base/memory_budget.h"
#include "apiserver/base/metrics.h"
#include "apiserver/base/random.h"
#include "apiserver/base/source.h"
#include "apiserver/base/status.h"
#include "apiserver/flowcontrol/flow_control.h"
#include "apiserver/http/dialer.h"
#include "apiserver/http/exchange.h"
#include "apiserver/http/listener.h"
#include "apiserver/server/certificate_files.h"
#include "apiserver/server/features.h"
#include "apiserver/server/handler.h"

namespace apiserver::inline v0::audit {
class Backend;
class PolicyRuleEvaluator;
}  // namespace apiserver::inline v0::audit
namespace apiserver::inline v0::trace {
class Tracer;
}  // namespace apiserver::inline v0::trace

// The server itself: Config -> Complete -> New -> PrepareRun -> Run, as
// k8s.io/apiserver/pkg/server.
namespace apiserver::inline v0::server {

class GenericAPIServer;
struct CompletedConfig;

// What /version says.
struct VersionInfo {
  std::string major = "1";
  std::string minor = "35";
  std::string git_version = "v1.35.0+libapiserver";
  std::string git_commit = "";
  std::string git_tree_state = "";
  std::string build_date = "";
};

// How much a server does at once, and who comes first when that is not enough. Requests that take
// long (but the beginning of a watch) do not count; those of system:masters are never turned away.
struct FlowControlConfig {
  enum class Mode : std::uint8_t {
    // API Priority and Fairness, from its built-in configuration or what flow_control() is given:
    // the sum of the limits is shared by levels, and who finds no seat waits in fair queues.
    kPriorityAndFairness,
    // Whoever is one too many is answered 429.
    kMaxInFlight,
    kNone,
  };
  Mode mode = Mode::kPriorityAndFairness;
  // kMaxInFlight: 0 is no limit. kPriorityAndFairness: the sum must be positive.
  int max_requests_in_flight = 400;           // Of get, list and watch.
  int max_mutating_requests_in_flight = 200;  // Of all others.
};

// Filters of the host, in the order in which a request meets them. Go:
// Config.BuildHandlerChainFunc, which wraps the whole chain; here there are two places, so that a
// filter cannot leave out one of the server's. Filters are called on a loop and must not wait
// there: what may block is done in Step::OnPool. They may be shared by several servers. None may be
// null.
struct HostFilters {
  // In front of authentication and auditing, behind CORS, the request's deadline and the count of
  // requests that a stop waits for. They see the request as the client sent it, with its
  // credentials; what they answer is neither audited nor counted in apiserver_request_total.
  std::vector<std::shared_ptr<const http::Filter>> before_authentication = {};
  // Behind authorization, in front of the body and the handler. The exchange has auth::UserInfoPtr
  // and request::RequestInfo.
  std::vector<std::shared_ptr<const http::Filter>> after_authorization = {};
};

// How a server is put together. Everything has a default but authentication; pointers must outlive
// the server.
struct Config {
  std::string name = "apiserver";

  // Where it listens; TLS is required for it (Run refuses plain text). Absent address and no TLS:
  // the server answers in process only.
  std::optional<http::ListenerOptions> serving = std::nullopt;
  // Where serving.tls comes from, and is kept up to date with, if it is not set.
  CertificateFiles certificates = {};
  http::ServerTlsOptions tls = {};  // Of what comes from `certificates`.
  // PEM of the authorities whose names clients are told in the handshake; null: none.
  std::shared_ptr<const Source<std::string>> client_ca = nullptr;

  // Required. Who asks; everyone it does not know is answered 401.
  std::shared_ptr<const auth::Authenticator> authenticator = nullptr;
  // Whom credentials must be for, where they say for whom; empty: that is not checked.
  std::vector<std::string> api_audiences = {};
  // By which headers a front proxy names the user; they are taken out of every request, as the
  // standard X-Remote-* always are. Null: no others.
  authn::RequestHeaderNamesSource request_headers = nullptr;
  // Who may; null: everyone authenticated may do everything.
  std::shared_ptr<const auth::Authorizer> authorizer = nullptr;
  // What is recorded of requests, and where it goes: see audit/policy.h and audit/backend.h. Both,
  // or nothing is recorded. The server runs the backend and shuts it down.
  std::shared_ptr<const audit::PolicyRuleEvaluator> audit_policy = nullptr;
  std::shared_ptr<audit::Backend> audit_backend = nullptr;
  // What records what requests did (base/trace.h), for example for an OpenTelemetry collector
  // (client/otlp_exporter.h). Null: nothing is traced. The server flushes it when it stops.
  std::shared_ptr<const trace::Tracer> tracer = nullptr;
  // Run in this order on every write.
  std::vector<std::shared_ptr<const admission::Plugin>> admission = {};
  HostFilters filters = {};

  // Feature gates, as --feature-gates sets them.
  FeatureGates features = DefaultFeatureGates();

  VersionInfo version = {};
  std::string openapi_title = "Kubernetes";
  std::string openapi_version = "unversioned";

  std::size_t body_bytes_max = 3 << 20;  // 413 over it.
  std::chrono::milliseconds request_timeout = std::chrono::seconds(60);
  std::chrono::milliseconds min_request_timeout = std::chrono::minutes(30);
  // How long a create, update, patch or delete may run until it is answered 504; the write itself
  // goes on. Positive. Go: requestTimeoutUpperBound of k8s.io/apiserver/pkg/endpoints/handlers.
  std::chrono::milliseconds write_timeout = std::chrono::seconds(34);
  // Between the moment /readyz fails and the moment anything else changes: load balancers notice.
  std::chrono::milliseconds shutdown_delay = std::chrono::milliseconds(0);
  // How long Stop waits for answers in progress.
  std::chrono::milliseconds shutdown_grace = std::chrono::seconds(60);
  // Over how long Stop ends watches, at least 200 a second; zero: all at once.
  std::chrono::milliseconds shutdown_watch_termination_grace = std::chrono::milliseconds(0);
  // Stop answers new requests 429 with Retry-After while those in progress are finished, and stops
  // listening last rather than first.
  bool shutdown_send_retry_after = false;
  // How long after New /livez takes post-start hooks that are not finished for alive.
  std::chrono::milliseconds livez_grace = std::chrono::milliseconds(0);
  // The chance with which an answer over HTTP/2 sends its client to another connection, so that
  // clients spread over servers: 0 ... 0.02.
  double goaway_chance = 0;
  // Origins of web pages that may read answers, as regular expressions that pin both ends of the
  // host, e.g. "//example\\.com(:|$)". Empty: no CORS.
  std::vector<std::string> cors_allowed_origins = {};
  // Of Strict-Transport-Security: "max-age=31536000", "includeSubDomains", "preload". Empty: none.
  std::vector<std::string> hsts_directives = {};
  FlowControlConfig flow_control;
  // At most; they start as work for them comes. A write holds one until it is durable.
  std::size_t pool_threads = 64;
  // What it may keep in memory beyond the state it serves, and what happens when that is used up.
  MemoryBudget::Limits memory;

  // Serves /debug/pprof/ and /debug/flags/ to those who may, and DELETE /metrics sets what is
  // counted to zero.
  bool enable_profiling = true;
  // What PUT /debug/flags/v does with klog's -v, 0 ... 2147483647: see base/verbosity.h. Called on
  // a loop, must not wait. Null: there is no such path.
  std::function<Status(std::uint32_t)> set_verbosity = nullptr;

  // Where /debug/pprof/ and /debug/flags/ are served on a Unix socket too, without authentication,
  // to the user that this process runs as. Whatever enable_profiling says. Empty: nowhere.
  std::string debug_socket_path = "";

  // What it counts, for hosts whose authenticator or other parts count before there is a server;
  // null: a registry of its own.
  std::shared_ptr<metrics::Registry> metrics = nullptr;
  const Clock* clock = &RealClock();
  Random* random = &SecureRandom();
  LogSink* log = &NullLogSink();

  // Fills what depends on other fields. kInvalid: something required is missing, or contradicts.
  Result<CompletedConfig> Complete() &&;
};

// A Config that has been checked; made only by Complete().
struct CompletedConfig {
  Config config;
  Result<std::unique_ptr<GenericAPIServer>> New() &&;
};

// One API server: listener, filters, documents and lifecycle, and the handlers whose chain it is.
// It is the first of them itself, called by Config::name. Destroying it stops it if that has not
// happened. Methods from any thread unless they say otherwise.
class GenericAPIServer : public Handler {
 public:
  // A further handler of the serving chain, which the server owns: it lives as long as the server.
  // Before PrepareRun. kConflict: the name is taken. kInvalid: it has none, or comes too late.
  virtual Result<Handler*> AddHandler(HandlerOptions options) = 0;

  // Serves `handler` at `path` to everybody: GET and HEAD are answered before authentication, for
  // pages that a browser opens. A path that ends in '/' is a prefix; a longer path of HandlePath
  // below it stays behind authorization. `listed`: appears in the index. Other methods go through
  // the whole chain and are answered 405 if they are allowed. The request's deadline, CORS, HSTS,
  // the access log and a clean stop hold for it; auditing, priority and fairness and
  // apiserver_request_total do not, so the handler must be cheap. It runs on a loop and must not
  // wait there: see http::Handler. Credentials of the request are still in its headers. Any thread,
  // at any time. kConflict: the path is taken. kInvalid: it belongs to the APIs.
  virtual Status HandlePublicPath(std::string path, http::Handler handler, bool listed) = 0;

  // Installs what stands beside the APIs: OpenAPI, health, version, index. Once, before Run.
  virtual Status PrepareRun() = 0;
  // Binds, starts the hooks and returns. kConflict: the address is taken.
  virtual Status Start() = 0;
  // Drains: /readyz fails, pre-shutdown hooks run, no new requests are taken, answers in progress
  // are finished, watches end cleanly. Waits. Idempotent.
  virtual void Stop() = 0;
  // Start, waits until `ctx` is done, Stop.
  virtual Status Run(const Context& ctx) = 0;

  // The bound port; 0 before Start and for servers without listener.
  virtual int port() const = 0;
  // All readiness checks pass. Waits for them: not for loops.
  virtual bool ready() const = 0;
  // A client through the whole chain without a socket, authenticated as system:apiserver in
  // system:masters. Works from PrepareRun on; must not outlive the server.
  virtual std::unique_ptr<http::Connection> LoopbackConnection() = 0;
  // The chain and its last stop, for host adapters and in-process clients.
  virtual const http::Service& service() const = 0;
  // Where a server's blocking work runs.
  virtual Executor& pool() = 0;
  // What API Priority and Fairness is configured by; null unless that is on.
  virtual flowcontrol::FlowControl* flow_control() = 0;
  // What it may keep beyond the state it serves; for registry::StorageConfig, whose watch caches
  // share the history.
  virtual std::shared_ptr<MemoryBudget> memory() = 0;
  // What it counts, for registry::StorageConfig and the host's own numbers; GET /metrics shows it.
  virtual std::shared_ptr<metrics::Registry> metrics() = 0;
};

}  // namespace apiserver::inline v0::server
