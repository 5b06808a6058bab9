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
#include "apiserver/registry/store.h"
#include "apiserver/server/certificate_files.h"
#include "apiserver/server/features.h"
#include "apiserver/server/handler.h"
#include "apiserver/server/resource_config.h"
#include "apiserver/storage/kv/engine.h"

namespace apiserver::inline v0 {
class ProgressSink;
}  // namespace apiserver::inline v0
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

// The answer of /version.
struct VersionInfo {
  std::string major = "1";
  std::string minor = "35";
  std::string git_version = "v1.35.0+libapiserver";
  std::string git_commit = "";
  std::string git_tree_state = "";
  std::string build_date = "";
};

// The limit of requests in flight, and how it is shared. Long-running requests do not count, except
// for the beginning of a watch; requests of system:masters are never refused.
struct FlowControlConfig {
  // The mechanism that limits requests.
  enum class Mode : std::uint8_t {
    // API Priority and Fairness, from its built-in configuration or what flow_control() is given:
    // priority levels share the sum of the limits, and requests without a seat wait in fair queues.
    kPriorityAndFairness,
    // Rejects requests over a limit with 429 immediately.
    kMaxInFlight,
    kNone,
  };
  Mode mode = Mode::kPriorityAndFairness;
  // kMaxInFlight: 0 is no limit. kPriorityAndFairness: the sum must be positive.
  int max_requests_in_flight = 400;           // For get, list and watch.
  int max_mutating_requests_in_flight = 200;  // For all other verbs.
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

// The configuration of a server. Every field but `authenticator` has a default; pointers must
// outlive the server. Go: k8s.io/apiserver/pkg/server.Config.
struct Config {
  std::string name = "apiserver";

  // The listener, which needs TLS: Complete refuses plain text. nullopt: the server answers in
  // process only.
  std::optional<http::ListenerOptions> serving = std::nullopt;
  // The files that serving.tls is loaded from and follows, if it is not set.
  CertificateFiles certificates = {};
  http::ServerTlsOptions tls = {};  // For serving.tls as loaded from `certificates`.
  // PEM of the certificate authorities that the handshake names to clients. Null: it names none.
  std::shared_ptr<const Source<std::string>> client_ca = nullptr;
  // PEM of the certificate authorities of users alone, without those of front proxies. The server
  // does not use it; a host tells other servers of it (aggregator::PublishClusterAuthentication).
  // Null: unknown.
  std::shared_ptr<const Source<std::string>> user_ca = nullptr;

  // Required. Authenticates requests; those that it does not authenticate are answered 401.
  std::shared_ptr<const auth::Authenticator> authenticator = nullptr;
  // Accepted token audiences. Empty: audiences are not checked.
  std::vector<std::string> api_audiences = {};
  // The headers in which a front proxy names the user. They are removed from every request, as the
  // standard X-Remote-* always are. Null: there are no others.
  authn::RequestHeaderNamesSource request_headers = nullptr;
  // Null: every authenticated user is allowed everything.
  std::shared_ptr<const auth::Authorizer> authorizer = nullptr;
  // The audit policy and backend: see audit/policy.h and audit/backend.h. Unless both are set,
  // nothing is recorded. The server runs the backend and shuts it down.
  std::shared_ptr<const audit::PolicyRuleEvaluator> audit_policy = nullptr;
  std::shared_ptr<audit::Backend> audit_backend = nullptr;
  // Records the spans of requests (base/trace.h), for example for an OpenTelemetry collector
  // (client/otlp_exporter.h). Null: nothing is traced. The server flushes it when it stops.
  std::shared_ptr<const trace::Tracer> tracer = nullptr;
  // Admission plugins, which run in this order on every write.
  std::vector<std::shared_ptr<const admission::Plugin>> admission = {};
  // Filters of the host in the chain of the server.
  HostFilters filters = {};

  // The resources that are served of those that are installed, as --runtime-config says. One that
  // is disabled is answered 404 and in no document; its storage is kept for the server's own use.
  // Versions that it does not know, and what a RouteSource finds, are served. nullopt: everything
  // is served. Go: MergedResourceConfig.
  std::optional<ResourceConfig> resource_config = std::nullopt;

  // Feature gates, as --feature-gates sets them.
  FeatureGates features = DefaultFeatureGates();

  VersionInfo version = {};
  std::string openapi_title = "Kubernetes";
  std::string openapi_version = "unversioned";

  std::size_t body_bytes_max = 3 << 20;  // A larger body is answered 413.
  // How long a request may take, long-running ones aside, until it is answered 504.
  std::chrono::milliseconds request_timeout = std::chrono::seconds(60);
  // How long a watch lasts at least unless its client says otherwise: once to twice as long.
  std::chrono::milliseconds min_request_timeout = std::chrono::minutes(30);
  // How long a create, update, patch or delete may run until it is answered 504; the write itself
  // goes on. Positive. Go: requestTimeoutUpperBound of k8s.io/apiserver/pkg/endpoints/handlers.
  std::chrono::milliseconds write_timeout = std::chrono::seconds(34);
  // How long the server serves on after /readyz fails, so that load balancers notice.
  std::chrono::milliseconds shutdown_delay = std::chrono::milliseconds(0);
  // How long Stop waits for requests in flight.
  std::chrono::milliseconds shutdown_grace = std::chrono::seconds(60);
  // The time over which Stop spreads the end of watches, at least 200 a second. Zero: it ends all
  // at once.
  std::chrono::milliseconds shutdown_watch_termination_grace = std::chrono::milliseconds(0);
  // True: Stop answers new requests with 429 and Retry-After while it finishes those in flight, and
  // stops listening last. False: it stops listening first.
  bool shutdown_send_retry_after = false;
  // How long after New /livez passes although post-start hooks are not finished.
  std::chrono::milliseconds livez_grace = std::chrono::milliseconds(0);
  // The probability that a response over HTTP/2 sends its client to another connection, so that
  // clients spread over servers: 0 to 0.02.
  double goaway_chance = 0;
  // Origins of web pages that may read responses, as regular expressions that pin both ends of the
  // host, e.g. "//example\\.com(:|$)". Empty: no CORS.
  std::vector<std::string> cors_allowed_origins = {};
  // Directives of the header Strict-Transport-Security: "max-age=31536000", "includeSubDomains",
  // "preload". Empty: there is no such header.
  std::vector<std::string> hsts_directives = {};
  FlowControlConfig flow_control;
  // The most tasks of the pool that compute at a time, see ThreadPoolOptions::threads. A delete
  // holds a thread until it is durable.
  std::size_t pool_threads = 64;
  // Limits of the memory that the server uses beyond the state that it serves.
  MemoryBudget::Limits memory;

  // Serves /debug/pprof/ and /debug/flags/ to authorized users, and lets DELETE /metrics reset the
  // counters.
  bool enable_profiling = true;
  // Sets klog's -v, 0 ... 2147483647, for PUT /debug/flags/v: see base/verbosity.h. Called on a
  // loop, must not wait. Null: there is no such path.
  std::function<Status(std::uint32_t)> set_verbosity = nullptr;

  // True: a path that nothing serves is answered 404 with a Status below /apis, and elsewhere with
  // the list of all paths. False: with Go's plain text, as a kube-apiserver does.
  bool index_of_unknown_paths = true;

  // The path of a Unix socket that serves /debug/pprof/ and /debug/flags/ without authentication to
  // the user that this process runs as, independent of enable_profiling. Empty: there is none.
  std::string debug_socket_path = "";

  // The metrics of the server, for hosts whose authenticator or other parts count before there is a
  // server. Null: the server makes a registry of its own.
  std::shared_ptr<metrics::Registry> metrics = nullptr;
  // Receives the progress of the server's long jobs: the warm-up of its caches and the drain when
  // it stops (base/progress.h); a host gives it to the engine as well. Shared, since the engine
  // opens before there is a server. Null: NewProgressLog() with the server's log and metrics, which
  // a host may put in front of a sink of its own.
  std::shared_ptr<ProgressSink> progress = nullptr;
  const Clock* clock = &RealClock();
  Random* random = &SecureRandom();
  LogSink* log = &NullLogSink();

  // Checks the fields and sets those that depend on others. kInvalid: a required field is missing,
  // or fields contradict each other.
  Result<CompletedConfig> Complete() &&;
};

// A Config that has been checked; made only by Complete().
struct CompletedConfig {
  Config config;
  // Makes the server, which does not listen yet.
  Result<std::unique_ptr<GenericAPIServer>> New() &&;
};

// One API server: listener, filters, documents, lifecycle, and a serving chain of handlers. It is
// the first handler itself, under Config::name. Its destructor stops it. Methods may be called from
// any thread unless they say otherwise.
class GenericAPIServer : public Handler {
 public:
  // Adds a handler to the serving chain. The server owns it. Call it before PrepareRun. kConflict:
  // the name is taken. kInvalid: the name is empty, or PrepareRun has been called.
  virtual Result<Handler*> AddHandler(HandlerOptions options) = 0;

  // Returns Config::resource_config.
  virtual const std::optional<ResourceConfig>& resource_config() const = 0;
  // Returns false for a resource that it disables.
  virtual bool ResourceEnabled(const runtime::GroupVersionResource& resource) const = 0;

  // Serves `handler` at `path` to everybody: GET and HEAD are answered before authentication, for
  // pages that a browser opens. A path that ends in '/' is a prefix; a longer path of HandlePath
  // below it stays behind authorization. `listed`: appears in the index. Other methods go through
  // the whole chain and are answered 405 if they are allowed. The request's deadline, CORS, HSTS,
  // the access log and a clean stop hold for it; auditing, priority and fairness and
  // apiserver_request_total do not, so the handler must be cheap. It runs on a loop and must not
  // wait there: see http::Handler. Credentials of the request are still in its headers. Any thread,
  // at any time. kConflict: the path is taken. kInvalid: it belongs to the APIs.
  virtual Status HandlePublicPath(std::string path, http::Handler handler, bool listed) = 0;

  // Installs the paths beside the APIs: OpenAPI, health, version, index. Call it once, before Run.
  virtual Status PrepareRun() = 0;
  // Binds the address, runs the post-start hooks and returns when they have ended. kConflict: the
  // address is taken.
  virtual Status Start() = 0;
  // Stops gracefully: /readyz fails, pre-shutdown hooks run, new requests are refused, requests in
  // flight are finished, watches end cleanly. Blocks until that is done. Idempotent. May be called
  // while another thread is in Start(): its hooks' Context is cancelled first. Not from a hook.
  virtual void Stop() = 0;
  // Starts, blocks until `ctx` is done, and stops.
  virtual Status Run(const Context& ctx) = 0;

  // The bound port; 0 before Start and without a listener.
  virtual int port() const = 0;
  // Returns whether all readiness checks pass. Blocks for them: not for loops.
  virtual bool ready() const = 0;
  // A client through the whole chain without a socket, authenticated as system:apiserver in
  // system:masters. From PrepareRun on. Requests of one that outlives the server are answered
  // kServiceUnavailable.
  virtual std::unique_ptr<http::Connection> LoopbackConnection() = 0;
  // The filter chain and the handler behind it, for host adapters and in-process clients.
  virtual const http::Service& service() const = 0;
  // The threads that run the server's blocking work.
  virtual Executor& pool() = 0;
  // The configuration of API Priority and Fairness. Null: it is off.
  virtual flowcontrol::FlowControl* flow_control() = 0;
  // The memory budget beyond the state that is served, for registry::StorageConfig: watch caches
  // share it.
  virtual std::shared_ptr<MemoryBudget> memory() = 0;
  // The metrics that GET /metrics shows, for registry::StorageConfig and the host's own ones.
  virtual std::shared_ptr<metrics::Registry> metrics() = 0;
  // Returns how stores of this server keep their objects in `engine`: with its pool, memory budget,
  // metrics, progress, clock, randomness and log. What else there is to say (prefix, encryption) is
  // set in the result. The engine must outlive the server, and the server the stores.
  virtual registry::StorageConfig Storage(storage::kv::Engine& engine) = 0;
};

}  // namespace apiserver::inline v0::server
