#include "server/generic_api_server.h"

#include <algorithm>
#include <utility>

#include "apiserver/base/executor.h"
#include "apiserver/base/file_system.h"
#include "apiserver/codec/json.h"
#include "apiserver/http/in_process.h"
#include "apiserver/meta/errors.h"
#include "apiserver/response/response.h"
#include "base/status_macros.h"
#include "http/net.h"
#include "server/debug/flags.h"
#include "server/debug/metrics.h"
#include "server/debug/place.h"
#include "server/debug/pprof.h"
#include "server/feature_metrics.h"
#include "server/filter_chain.h"
#include "server/filters/filters.h"
#include "server/loopback.h"
#include "server/process_metrics.h"
#include "server/version.h"

namespace apiserver::v0::server {

// The order of the members is that of their need: checks use the log, documents the routes, and
// flow control the pool.
Server::Server(Config config)
    : config_(std::move(config)),
      loopback_token_(NewUuid(*config_.random)),
      audit_ids_(NewBufferedRandom(*config_.random)),
      own_(config_.name, config_.admission, Environment(), *metrics_),
      healthz_("healthz", log_, slis_.get()),
      livez_("livez", log_, slis_.get()),
      readyz_("readyz", log_, slis_.get()),
      signals_(log_),
      pool_(NewThreadPool({.name = "pool", .threads = config_.pool_threads})),
      documents_(std::make_unique<ApiDocuments>(NeedsOfDocuments())),
      memory_(std::make_shared<MemoryBudget>(config_.memory)),
      flow_control_(config_.flow_control, NeedsOfFlowControl()) {
  WatchLog();
  readyz_.OnPassed([this] { signals_.has_been_ready.Signal(); });
  service_ = Service();
}

// Pointers into this server, which outlives every handler that has them.
endpoints::Environment Server::Environment() const {
  return {.equivalents = &equivalents_,
          .authorizer = config_.authorizer.get(),
          .websocket_needs_create =
              config_.features.Enabled(kAuthorizePodWebsocketUpgradeCreatePermission),
          .min_request_timeout = config_.min_request_timeout,
          .write_timeout = config_.write_timeout,
          .clock = config_.clock,
          .random = config_.random};
}

ApiDocuments::Needs Server::NeedsOfDocuments() const {
  return {.routes = routes_,
          .sources = sources_,
          .owners = [this] { return Owners(); },
          .pool = *pool_,
          .clock = *config_.clock,
          .info = {config_.openapi_title, config_.openapi_version},
          .extra_routes = {VersionRoute()},
          .server_address = [this] { return ServerAddress(); }};
}

FlowControlParts::Needs Server::NeedsOfFlowControl() {
  return {.clock = *config_.clock,
          .random = *config_.random,
          .executor = *pool_,
          .metrics = metrics_,
          .log = log_,
          .stats_of = [this](const request::RequestInfo& info) { return StatsOf(info); }};
}

AuthenticationOptions Server::Authentication() const {
  return {
      .authenticator = config_.authenticator.get(),
      .loopback_token = loopback_token_,
      .api_audiences = config_.api_audiences,
      .request_headers = config_.request_headers,
      .close_unauthenticated_http2 = config_.features.Enabled(kUnauthenticatedHTTP2DOSMitigation),
      .clock = config_.clock,
      .metrics = metrics_.get(),
      .log = config_.log};
}

FilterConfig Server::Filters() {
  return {.authentication = Authentication(),
          .authorizer = config_.authorizer.get(),
          .auditing = auditing_.get(),
          .tracer = config_.tracer.get(),
          .in_flight = &in_flight_,
          .signals = &signals_,
          .send_retry_after = config_.shutdown_send_retry_after,
          .goaway_chance = config_.goaway_chance,
          .hsts_directives = config_.hsts_directives,
          .cors_allowed_origins = config_.cors_allowed_origins,
          .public_path = [this](http::Exchange& exchange) { return ServePublicPath(exchange); },
          .before_authentication = config_.filters.before_authentication,
          .after_authorization = config_.filters.after_authorization,
          .metrics = &request_metrics_,
          .installed = [this](const request::RequestInfo& info) { return IsInstalled(info); },
          .flow_control = &flow_control_,
          .request_timeout = config_.request_timeout,
          .body_bytes_max = config_.body_bytes_max,
          .before_body = [this](http::Exchange& exchange) { return BeforeBody(exchange); },
          .cbor = config_.features.Enabled(kCBORServingAndStorage),
          .constrained_impersonation = config_.features.Enabled(kConstrainedImpersonation),
          .long_running = [this](const request::RequestInfo& info,
                                 std::string_view method) { return IsLongRunning(info, method); },
          .log = config_.log,
          .clock = config_.clock,
          .random = audit_ids_.get()};
}

http::Service Server::Service() {
  http::Service service;
  service.filters = DefaultFilterChain(Filters());
  service.handler = [this](http::Exchange& exchange) { return Direct(exchange); };
  service.write_error = &response::WriteStatus;
  service.pool = pool_.get();
  service.memory = memory_;
  service.features = std::make_shared<const FeatureGates>(config_.features);
  service.log = config_.log;
  return service;
}

// The server's log also tells whether the log can be written, hence the check.
void Server::WatchLog() {
  if (config_.serving && config_.serving->log == config_.log) config_.serving->log = &log_;
  config_.log = &log_;
  // The first check behind ping, as upstream. Adding cannot fail: no other check has the name yet.
  (void)AddHealthCheck({.name = "log", .check = [this](const Context&) { return log_.Check(); }},
                       /*pool=*/nullptr);
}

Server::~Server() {
  Stop();
  // Before the filters are destroyed, in which requests over LoopbackConnection() may still end.
  in_process_.Cut();
  pre_shutdown_.Forget();
  post_start_.Forget();
  // The storages of routes are destroyed on the pool, which does not outlive them.
  sources_.Forget();
}

registry::StorageConfig Server::Storage(storage::kv::Engine& engine) {
  storage_sizes_.Show(engine);
  return {.engine = &engine,
          .executor = pool_.get(),
          .clock = config_.clock,
          .random = config_.random,
          .memory = memory_,
          .progress = progress_,
          .metrics = metrics_,
          .log = config_.log};
}

// Before PrepareRun() only, which builds on the set of handlers.
Result<Handler*> Server::AddHandler(HandlerOptions options) {
  const std::string& name = options.name;
  if (name.empty()) {
    return Status(Reason::kInvalid, "server: a handler of the serving chain needs a name");
  }
  const auto added = added_.Lock();
  if (prepared_) {
    return Status(Reason::kInvalid,
                  "server: the handler \"" + name + "\" comes too late: PrepareRun was called");
  }
  const bool taken = name == own_.name() || std::ranges::any_of(*added, [&name](const auto& each) {
                       return each->owner().name() == name;
                     });
  if (taken) {
    return Status(Reason::kConflict, "server: there is a handler \"" + name + "\" already");
  }
  // A handler without plugins of its own shares those of the server.
  auto owner = std::make_unique<Owner>(name, options.admission.value_or(config_.admission),
                                       Environment(), *metrics_);
  added->push_back(std::make_unique<AddedHandler>(*this, installer_, std::move(owner)));
  if (options.routes) {
    const bool in_front = options.place == HandlerOptions::Place::kInFront;
    (in_front ? sources_.in_front : sources_.behind).push_back(std::move(options.routes));
  }
  return added->back().get();
}

std::vector<const Owner*> Server::Owners() const {
  std::vector<const Owner*> owners{&own_};
  const auto added = added_.Lock();
  for (const auto& each : *added) owners.push_back(&each->owner());
  return owners;
}

Status Server::HandlePath(std::string path, http::Handler handler, bool listed) {
  return mux_.Handle(std::move(path), std::move(handler), listed);
}

Status Server::HandlePathWithoutBody(std::string path, http::Handler handler, bool listed) {
  return mux_.Handle(std::move(path), std::move(handler), listed, PathMux::Body::kLeft);
}

// The APIs must stay behind authorization, whatever a host registers.
Status Server::HandlePublicPath(std::string path, http::Handler handler, bool listed) {
  for (const std::string_view root : {"/api", "/apis"}) {
    if (path == root || path.starts_with(std::string(root) + "/")) {
      return {Reason::kInvalid, "the path " + path + " belongs to the APIs and cannot be public"};
    }
  }
  return mux_.Handle(std::move(path), std::move(handler), listed, PathMux::Body::kPublic);
}

Status Server::AddHealthCheck(HealthCheck check) {
  return AddHealthCheck(std::move(check), pool_.get());
}

// A null pool is for checks that never block: they run where the request runs.
Status Server::AddHealthCheck(HealthCheck check, Executor* pool) {
  const auto probe = std::make_shared<HealthProbe>(
      std::move(check.check), HealthProbe::Options{pool, check.timeout, checks_});
  Status status;
  if (check.healthz) status = healthz_.Add({check.name, probe, check.group});
  if (status.ok() && check.readyz) status = readyz_.Add({check.name, probe, check.group});
  if (!status.ok() || !check.livez) return status;
  // The grace starts here, not with the server: a check that is added later gets the whole of it.
  const auto alive_until = config_.clock->Now() + check.livez_grace;
  std::function<bool()> in_grace;
  if (check.livez_grace.count() > 0) {
    in_grace = [this, alive_until] { return config_.clock->Now() <= alive_until; };
  }
  return livez_.Add({check.name, probe, check.group, std::move(in_grace)});
}

// As upstream, a hook that has not finished keeps the server from being ready, and after
// livez_grace from being live.
Status Server::AddPostStartHook(std::string name, Hook hook) {
  RETURN_IF_ERROR(post_start_.Add(name, std::move(hook)));
  return AddHealthCheck({.name = "poststarthook/" + name,
                         .check = [this, name](const Context&) -> Status {
                           if (post_start_.Done(name)) return {};
                           return {Reason::kServiceUnavailable, "not finished"};
                         },
                         .livez_grace = config_.livez_grace},
                        /*pool=*/nullptr);
}

Status Server::AddPreShutdownHook(std::string name, Hook hook) {
  return pre_shutdown_.Add(std::move(name), std::move(hook));
}

std::string Server::ServerAddress() const {
  if (!config_.serving) return "127.0.0.1:0";
  const int port = port_ > 0 ? port_.load() : config_.serving->port;
  return http::JoinHostPort(config_.serving->address, port);
}

// Runs on the pool, within the time that a health check has.
Status Server::StorageReady() {
  // A copy: storages may be removed while the checks run.
  const auto storages = installer_.Storages();
  for (const OwnedStoragePtr& storage : storages) {
    const rest::Capabilities can = rest::Capabilities::Of(storage->storage());
    if (!can.readiness) continue;
    RETURN_IF_ERROR(can.readiness->ReadinessCheck());
  }
  return {};
}

Status Server::InstallHealthChecks() {
  RETURN_IF_ERROR(AddHealthCheck({.name = "storage",
                                  .check = [this](const Context&) { return StorageReady(); },
                                  .livez = false}));
  RETURN_IF_ERROR(AddHealthCheck({.name = "shutdown",
                                  .check = [this](const Context&) -> Status {
                                    if (!signals_.shutdown_initiated.Signaled()) return {};
                                    std::string text = "process is shutting down";
                                    const std::string left = in_flight_.left().ToString();
                                    if (signals_.not_accepting_new_request.Signaled() &&
                                        !left.empty())
                                      text += ": " + left + " left";
                                    return {Reason::kServiceUnavailable, std::move(text)};
                                  },
                                  .healthz = false,
                                  .livez = false},
                                 /*pool=*/nullptr));
  for (const Health* health : {&healthz_, &livez_, &readyz_}) {
    RETURN_IF_ERROR(InstallHealth(*health));
  }
  return {};
}

// "/livez/x" is a path of its own for each check, so that the index lists it.
Status Server::InstallHealth(const Health& health) {
  const std::string path = "/" + health.name();
  const std::string below = path + "/";
  const auto serve = [this, &health](http::Exchange& exchange) -> http::Step {
    if (auto step = health.Serve(exchange)) return std::move(*step);
    return NotFound(exchange);
  };
  RETURN_IF_ERROR(HandlePathWithoutBody(path, serve, /*listed=*/true));
  RETURN_IF_ERROR(HandlePathWithoutBody(below, serve, /*listed=*/false));
  for (const std::string& check : health.CheckNames()) {
    RETURN_IF_ERROR(HandlePathWithoutBody(below + check, serve, /*listed=*/true));
  }
  return {};
}

Status Server::InstallOpenApi() {
  const auto v3 = [this](http::Exchange& exchange) { return documents_->ServeOpenApiV3(exchange); };
  RETURN_IF_ERROR(HandlePathWithoutBody(
      "/openapi/v2",
      [this](http::Exchange& exchange) { return documents_->ServeOpenApiV2(exchange); },
      /*listed=*/true));
  RETURN_IF_ERROR(HandlePathWithoutBody("/openapi/v3", v3, /*listed=*/true));
  return HandlePathWithoutBody("/openapi/v3/", v3, /*listed=*/true);
}

void Server::ShowMemory() {
  auto& used = metrics_->Gauges({.name = "apiserver_memory_share_bytes",
                                 .help = "Bytes that count in a share of the memory budget.",
                                 .labels = {"share"}});
  // Read on each scrape, so that requests do not touch a gauge.
  memory_shown_ = metrics_->BeforeSerialize([&used, memory = memory_] {
    used.With({"history"}).Set(static_cast<double>(memory->history.used()));
    used.With({"encodings"}).Set(static_cast<double>(memory->encodings.used()));
    used.With({"bodies"}).Set(static_cast<double>(memory->bodies.used()));
    used.With({"decoding"}).Set(static_cast<double>(memory->decoding.used()));
    used.With({"output"}).Set(static_cast<double>(memory->output.used()));
  });
}

Status Server::InstallStandardPaths() {
  const auto index = [this](http::Exchange& exchange) { return ServeIndex(exchange, 200); };
  RETURN_IF_ERROR(HandlePathWithoutBody("/", index, /*listed=*/true));
  RETURN_IF_ERROR(HandlePathWithoutBody("/index.html", index, /*listed=*/true));
  RETURN_IF_ERROR(HandlePathWithoutBody(
      "/metrics", debug::NewMetricsHandler(metrics_, config_.enable_profiling),
      /*listed=*/true));
  RETURN_IF_ERROR(HandlePathWithoutBody("/metrics/slis",
                                        debug::NewMetricsHandler(slis_, config_.enable_profiling),
                                        /*listed=*/true));
  RETURN_IF_ERROR(InstallDebugPaths());
  const http::Handler version = NewVersionHandler(config_.version);
  // The OpenAPI document has the slash, and so do clients that are generated from it.
  RETURN_IF_ERROR(HandlePathWithoutBody("/version/", version, /*listed=*/false));
  return HandlePathWithoutBody("/version", version, /*listed=*/true);
}

Status Server::InstallDebugPaths() {
  const auto profiler =
      std::make_shared<debug::Profiler>(debug::CpuProfile::Needs{.clock = config_.clock});
  const auto install = [this, &profiler](PathMux& mux, bool cmdline) -> Status {
    const debug::Place place = [&mux](std::string path, http::Handler handler, bool reads_body) {
      return mux.Handle(std::move(path), std::move(handler), /*listed=*/false,
                        reads_body ? PathMux::Body::kRead : PathMux::Body::kLeft);
    };
    RETURN_IF_ERROR(debug::InstallProfiling(place, profiler, cmdline));
    return config_.set_verbosity ? debug::InstallFlags(place, config_.set_verbosity) : Status();
  };
  // Without the program's arguments, which only the debug socket serves.
  if (config_.enable_profiling) RETURN_IF_ERROR(install(mux_, /*cmdline=*/false));
  if (config_.debug_socket_path.empty()) return {};
  debug_socket_ =
      std::make_unique<DebugSocket>(DebugSocket::Needs{.pool = *pool_,
                                                       .memory = memory_,
                                                       .body_bytes_max = config_.body_bytes_max,
                                                       .log = *config_.log});
  return install(debug_socket_->mux(), /*cmdline=*/true);
}

// Follows GenericAPIServer.PrepareRun: paths that need all groups to be installed come last.
Status Server::PrepareRun() {
  {
    // The lock keeps AddHandler() out, which checks `prepared_` under it.
    const auto added = added_.Lock();
    if (prepared_.exchange(true)) return {Reason::kInvalid, "PrepareRun was called before"};
  }
  if (auditing_) RETURN_IF_ERROR(auditing_->Run());
  ShowMemory();
  process_shown_ = ShowProcess(*metrics_, RealFileSystem());
  ShowVersion(config_.version, *metrics_);
  ShowFeatures(config_.features, *metrics_);
  RETURN_IF_ERROR(InstallStandardPaths());
  RETURN_IF_ERROR(InstallOpenApi());
  RETURN_IF_ERROR(flow_control_.AddTo(*this));
  return InstallHealthChecks();
}

int Server::port() const { return port_; }

// The loopback passes all filters, as system:apiserver of system:masters.
std::unique_ptr<http::Connection> Server::LoopbackConnection() {
  return NewLoopbackConnection(in_process_.New(), loopback_token_);
}

}  // namespace apiserver::v0::server
