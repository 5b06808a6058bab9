#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "apiserver/base/reload.h"
#include "apiserver/http/in_process.h"
#include "apiserver/server/server.h"
#include "server/added_handler.h"
#include "server/api_documents.h"
#include "server/counted_progress.h"
#include "server/debug_socket.h"
#include "server/equivalent_resources.h"
#include "server/filter_chain.h"
#include "server/health.h"
#include "server/hooks.h"
#include "server/installer.h"
#include "server/mux/path_mux.h"
#include "server/requests/auditing.h"
#include "server/requests/flow_control.h"
#include "server/requests/in_flight.h"
#include "server/requests/lifecycle_signals.h"
#include "server/requests/request_metrics.h"
#include "server/route_sources.h"
#include "server/routes.h"
#include "server/storage_sizes.h"
#include "server/watched_log.h"

namespace apiserver::inline v0::server {

// The implementation of GenericAPIServer.
class Server final : public GenericAPIServer {
 public:
  explicit Server(Config config);
  ~Server() override;

  runtime::Scheme& scheme() override { return own_.scheme(); }
  Status InstallAPIGroup(APIGroupInfo group) override {
    return installer_.InstallGroup(own_, group, /*replace=*/false);
  }
  Status ReplaceAPIGroup(APIGroupInfo group) override {
    return installer_.InstallGroup(own_, group, /*replace=*/true);
  }
  Status InstallAPIResource(APIResourceInfo resource) override {
    return installer_.InstallResource(own_, resource, /*replace=*/false);
  }
  Status ReplaceAPIResource(APIResourceInfo resource) override {
    return installer_.InstallResource(own_, resource, /*replace=*/true);
  }
  Status RemoveAPIResource(const runtime::GroupVersionResource& resource) override {
    return installer_.RemoveResource(own_, resource);
  }
  Result<std::shared_ptr<Route>> NewRoute(APIResourceInfo resource) override {
    return installer_.NewRoute(own_, resource);
  }
  Result<Handler*> AddHandler(HandlerOptions options) override;
  const std::optional<ResourceConfig>& resource_config() const override {
    return config_.resource_config;
  }
  bool ResourceEnabled(const runtime::GroupVersionResource& resource) const override {
    return installer_.Enabled(resource);
  }
  Status HandlePath(std::string path, http::Handler handler, bool listed) override;
  Status HandlePathWithoutBody(std::string path, http::Handler handler, bool listed) override;
  Status HandlePublicPath(std::string path, http::Handler handler, bool listed) override;
  Status AddHealthCheck(HealthCheck check) override;
  Status AddPostStartHook(std::string name, Hook hook) override;
  Status AddPreShutdownHook(std::string name, Hook hook) override;
  Status PrepareRun() override;
  Status Start() override;
  void Stop() override;
  Status Run(const Context& ctx) override;
  int port() const override;
  bool ready() const override { return readyz_.Passes(); }
  std::unique_ptr<http::Connection> LoopbackConnection() override;
  const http::Service& service() const override { return service_; }
  Executor& pool() override { return *pool_; }
  flowcontrol::FlowControl* flow_control() override { return flow_control_.controller(); }
  std::shared_ptr<MemoryBudget> memory() override { return memory_; }
  std::shared_ptr<metrics::Registry> metrics() override { return metrics_; }
  registry::StorageConfig Storage(storage::kv::Engine& engine) override;

 private:
  // The destination of a request: a route, a path beside the APIs or discovery. None of them: 404
  // if `api`, else the index. Only TargetOf decides it.
  struct Target {
    std::shared_ptr<Route> route = nullptr;
    bool api = false;  // Below a group version that is served.
    bool discovery = false;
    PathMux::Found path = {};
  };
  // director.cc
  // Returns the route of a request. Null: no handler of the chain has one.
  std::shared_ptr<Route> FindRoute(const request::RequestInfo& info) const;
  Target TargetOf(const http::Exchange& exchange) const;
  http::Step Serve(const Target& target, http::Exchange& exchange) const;
  // The handler behind the filters.
  http::Step Direct(http::Exchange& exchange) const;
  // Answers a request whose handler reads no body; Next for the others.
  http::Step BeforeBody(http::Exchange& exchange) const;
  // Answers a request for a public path; Next for the others.
  http::Step ServePublicPath(http::Exchange& exchange) const;
  bool IsLongRunning(const request::RequestInfo& info, std::string_view method) const;
  bool IsInstalled(const request::RequestInfo& info) const;
  Result<storage::Stats> StatsOf(const request::RequestInfo& info) const;
  http::Step ServeDiscovery(http::Exchange& exchange) const;
  http::Step NotFound(http::Exchange& exchange) const;
  http::Step ServeIndex(http::Exchange& exchange, int code) const;
  // Defined in lifecycle.cc.
  Status StartParts();
  Status Listen();
  Status FollowCertificates();
  void LogReadiness(std::uint64_t reports_before);

  // Return the parameters of the server's parts for the constructor.
  endpoints::Environment Environment() const;
  ApiDocuments::Needs NeedsOfDocuments() const;
  FlowControlParts::Needs NeedsOfFlowControl();
  AuthenticationOptions Authentication() const;
  FilterConfig Filters();
  http::Service Service();
  // Returns all handlers of the chain, this server first.
  std::vector<const Owner*> Owners() const;
  Status InstallStandardPaths();
  Status InstallDebugPaths();
  // `pool`: the threads that run the check. Null: the check does not wait and runs on its caller's
  // thread.
  Status AddHealthCheck(HealthCheck check, Executor* pool);
  Status InstallHealthChecks();
  Status InstallHealth(const Health& health);
  // Logs through `log_` from now on, and adds the health check of that.
  void WatchLog();
  Status StorageReady();
  Status InstallOpenApi();
  void ShowMemory();
  std::string ServerAddress() const;

  Config config_;
  WatchedLog log_{*config_.log, *config_.clock};  // In front of the host's.
  std::string loopback_token_;
  std::unique_ptr<Random> audit_ids_;
  const std::shared_ptr<metrics::Registry> metrics_ =
      config_.metrics ? config_.metrics : metrics::NewRegistry();
  // The metrics of health checks, which are scraped more often than the rest.
  const std::shared_ptr<metrics::Registry> slis_ = metrics::NewRegistry();
  const std::unique_ptr<Auditing> auditing_ = Auditing::Of(config_, *metrics_);
  // Logs through `log_` if it is the server's own, so it must not outlive the server then.
  const std::shared_ptr<CountedProgress> progress_ = std::make_shared<CountedProgress>(
      config_.progress ? config_.progress : NewProgressLog({.log = &log_, .metrics = metrics_}));
  RequestMetrics request_metrics_{*metrics_};
  StorageSizes storage_sizes_{metrics_};
  const EquivalentResources equivalents_{routes_, sources_};
  Owner own_;  // The server as the first handler of its chain.
  Guarded<std::vector<std::unique_ptr<AddedHandler>>> added_;  // The other handlers.
  // The route sources of `added_`; change only before PrepareRun, with `added_` locked.
  RouteSources sources_;
  PathMux mux_;
  Health healthz_;
  Health livez_;
  Health readyz_;
  Hooks post_start_;
  Hooks pre_shutdown_;
  InFlight in_flight_;
  LifecycleSignals signals_;
  std::unique_ptr<ThreadPool> pool_;
  Routes routes_;  // Destroyed before the pool, in which storages are destroyed.
  Installer installer_{routes_, *pool_, config_.resource_config};
  const std::unique_ptr<ApiDocuments> documents_;
  const std::shared_ptr<MemoryBudget> memory_;
  Context::Registration memory_shown_;
  Context::Registration process_shown_;
  FlowControlParts flow_control_;
  http::Service service_;
  http::InProcessConnections in_process_{service_};
  std::unique_ptr<http::Listener> listener_;
  std::unique_ptr<DebugSocket> debug_socket_;   // Null: none.
  std::unique_ptr<WatchedFiles> certificates_;  // Null: no files to follow.
  Guarded<Executor::Cancel> readiness_;         // Of the next LogReadiness().
  // The Context of hooks; cancelled when the server stops.
  Context running_ = Context::Child(Context::Background());
  // The Context of health checks, which run until the last request is answered.
  const Context checks_ = Context::Child(Context::Background());
  std::atomic<int> port_{0};
  std::atomic<bool> prepared_{false};
  std::atomic<bool> started_{false};
  Notification start_ended_;
  Guarded<bool> stopped_{false};
};

}  // namespace apiserver::inline v0::server
