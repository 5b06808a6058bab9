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
#include "apiserver/storage/kv/engine.h"

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

// The body of /version.
struct VersionInfo {
  std::string major = "1";
  std::string minor = "35";
  std::string git_version = "v1.35.0+libapiserver";
  std::string git_commit = "";
  std::string git_tree_state = "";
  std::string build_date = "";
};

// Limits the requests that a server runs at once, and orders them beyond that. Long-running
// requests do not count, except for the start of a watch; those of system:masters are never
// rejected.
struct FlowControlConfig {
  // The mechanism that limits requests.
  enum class Mode : std::uint8_t {
    // API Priority and Fairness, from its built-in configuration or that given to flow_control():
    // priority levels share the sum of the limits, and requests without a seat wait in fair queues.
    kPriorityAndFairness,
    // Requests over the limit are rejected with 429.
    kMaxInFlight,
    kNone,
  };
  Mode mode = Mode::kPriorityAndFairness;
  // kMaxInFlight: 0 is no limit. kPriorityAndFairness: the sum must be positive.
  int max_requests_in_flight = 400;           // get, list and watch.
  int max_mutating_requests_in_flight = 200;  // All other verbs.
};

// The configuration of a server. Everything but authentication has a default. Pointers must outlive
// the server.
struct Config {
  std::string name = "apiserver";

  // The listener; it requires TLS (Run refuses plain text). Absent, and no TLS: the server is
  // in-process only.
  std::optional<http::ListenerOptions> serving = std::nullopt;
  // The files of serving.tls if that is not set; changed files are loaded again.
  CertificateFiles certificates = {};
  http::ServerTlsOptions tls = {};  // TLS options for `certificates`.
  // PEM of the certificate authorities sent to clients in the handshake. Null: none are sent.
  std::shared_ptr<const Source<std::string>> client_ca = nullptr;

  // Authenticates requests. Required. An unknown user gets 401.
  std::shared_ptr<const auth::Authenticator> authenticator = nullptr;
  // The accepted audiences of credentials that have any. Empty: audiences are not checked.
  std::vector<std::string> api_audiences = {};
  // The headers in which a front proxy names the user. They are removed from every request, as the
  // standard X-Remote-* always are. Null: only the standard ones.
  authn::RequestHeaderNamesSource request_headers = nullptr;
  // Authorizes requests. Null: every authenticated user may do everything.
  std::shared_ptr<const auth::Authorizer> authorizer = nullptr;
  // The audit policy and the backend of its events: see audit/policy.h and audit/backend.h. Either
  // null: no auditing. The server runs the backend and shuts it down.
  std::shared_ptr<const audit::PolicyRuleEvaluator> audit_policy = nullptr;
  std::shared_ptr<audit::Backend> audit_backend = nullptr;
  // Traces requests (base/trace.h), for example to an OpenTelemetry collector
  // (client/otlp_exporter.h). Null: no traces. The server flushes it when it stops.
  std::shared_ptr<const trace::Tracer> tracer = nullptr;
  // Run in this order on every write; see admission::Plugin for their threads.
  std::vector<std::shared_ptr<const admission::Plugin>> admission = {};

  // Feature gates, as --feature-gates sets them.
  FeatureGates features = DefaultFeatureGates();

  VersionInfo version = {};
  std::string openapi_title = "Kubernetes";
  std::string openapi_version = "unversioned";

  std::size_t body_bytes_max = 3 << 20;  // Larger bodies get 413.
  std::chrono::milliseconds request_timeout = std::chrono::seconds(60);
  std::chrono::milliseconds min_request_timeout = std::chrono::minutes(30);
  // The time between the failure of /readyz and any other step of Stop, for load balancers to
  // notice.
  std::chrono::milliseconds shutdown_delay = std::chrono::milliseconds(0);
  // The time that Stop waits for responses in progress.
  std::chrono::milliseconds shutdown_grace = std::chrono::seconds(60);
  // The time over which Stop ends watches, at least 200 a second. Zero: all at once.
  std::chrono::milliseconds shutdown_watch_termination_grace = std::chrono::milliseconds(0);
  // If set, Stop rejects new requests with 429 and Retry-After while those in progress finish, and
  // stops listening last instead of first.
  bool shutdown_send_retry_after = false;
  // The time after New during which /livez ignores post-start hooks that have not finished.
  std::chrono::milliseconds livez_grace = std::chrono::milliseconds(0);
  // The probability that a response over HTTP/2 sends its client to another connection, so that
  // clients spread over servers: 0 to 0.02.
  double goaway_chance = 0;
  // Origins of web pages that may read responses, as regular expressions that pin both ends of the
  // host, e.g. "//example\\.com(:|$)". Empty: no CORS.
  std::vector<std::string> cors_allowed_origins = {};
  // The directives of Strict-Transport-Security: "max-age=31536000", "includeSubDomains",
  // "preload". Empty: no such header.
  std::vector<std::string> hsts_directives = {};
  FlowControlConfig flow_control;
  // The maximum of threads for blocking work; they start on demand. A write occupies one until it
  // is durable.
  std::size_t pool_threads = 64;
  // Limits the memory beyond the state that the server serves; base/memory_budget.h says what
  // happens at the limits.
  MemoryBudget::Limits memory;

  // Serves /debug/pprof/ and /debug/flags/ to authorized users, and lets DELETE /metrics reset the
  // counters.
  bool enable_profiling = true;
  // Applies klog's -v from PUT /debug/flags/v, 0 to 2147483647: see base/verbosity.h. Called on an
  // event loop, must not block. Null: the path is not served.
  std::function<Status(std::uint32_t)> set_verbosity = nullptr;

  // A Unix socket that serves /debug/pprof/ and /debug/flags/ without authentication to the user
  // that this process runs as, whatever enable_profiling is. Empty: no socket.
  std::string debug_socket_path = "";

  // The server's metrics, for hosts whose authenticator or other parts count before the server
  // exists. Null: a registry of the server's own.
  std::shared_ptr<metrics::Registry> metrics = nullptr;
  const Clock* clock = &RealClock();
  Random* random = &SecureRandom();
  LogSink* log = &NullLogSink();

  // Fills in the fields that depend on others, and loads the certificate files. kInvalid: a
  // required field is missing, or fields contradict.
  Result<CompletedConfig> Complete() &&;
};

// A Config that has been checked; made only by Complete().
struct CompletedConfig {
  Config config;
  // Makes the server, which does not listen yet.
  Result<std::unique_ptr<GenericAPIServer>> New() &&;
};

// An API server: listener, filters, documents and lifecycle, and the chain of handlers. It is the
// first of them itself, called by Config::name. Destroying a running server stops it. Methods from
// any thread unless they say otherwise.
class GenericAPIServer : public Handler {
 public:
  // Adds a handler to the serving chain. The server owns it, and it lives as long. Before
  // PrepareRun. kConflict: the name is taken. kInvalid: it has no name, or the call is too late.
  virtual Result<Handler*> AddHandler(HandlerOptions options) = 0;

  // Installs the paths beside the APIs: OpenAPI, health, version, index. Once, before Run.
  virtual Status PrepareRun() = 0;
  // Binds the address, starts the hooks and returns. kConflict: the address is taken.
  virtual Status Start() = 0;
  // Drains the server: /readyz fails, pre-shutdown hooks run, new requests are refused, responses
  // in progress finish, watches end cleanly. Blocks. Idempotent.
  virtual void Stop() = 0;
  // Starts, blocks until `ctx` is done, and stops.
  virtual Status Run(const Context& ctx) = 0;

  // The bound port; 0 before Start and for servers without listener.
  virtual int port() const = 0;
  // Returns true if all readiness checks pass. Blocks while they run: not on an event loop.
  virtual bool ready() const = 0;
  // A client through the whole chain without a socket, authenticated as system:apiserver in
  // system:masters. From PrepareRun on; must not outlive the server.
  virtual std::unique_ptr<http::Connection> LoopbackConnection() = 0;
  // The chain including its last handler, for host adapters and in-process clients.
  virtual const http::Service& service() const = 0;
  // The pool for blocking work.
  virtual Executor& pool() = 0;
  // Configures API Priority and Fairness. Null: it is off.
  virtual flowcontrol::FlowControl* flow_control() = 0;
  // The budget of memory beyond the state that the server serves; for registry::StorageConfig,
  // whose watch caches share the history.
  virtual std::shared_ptr<MemoryBudget> memory() = 0;
  // The server's metrics, for registry::StorageConfig and the host's own ones; GET /metrics serves
  // them.
  virtual std::shared_ptr<metrics::Registry> metrics() = 0;
  // Returns how stores of this server keep their objects in `engine`: with its pool, memory budget,
  // metrics, clock, randomness and log. What else there is to say (prefix, encryption) is set in
  // the result. The engine must outlive the stores, and so must the server.
  virtual registry::StorageConfig Storage(storage::kv::Engine& engine) = 0;
};

}  // namespace apiserver::inline v0::server
