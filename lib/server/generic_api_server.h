#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "apiserver/base/reload.h"
#include "apiserver/server/server.h"
#include "server/api_state.h"
#include "server/auditing.h"
#include "server/debug/debug_socket.h"
#include "server/equivalent_resources.h"
#include "server/flow_control.h"
#include "server/health.h"
#include "server/hooks.h"
#include "server/in_flight.h"
#include "server/lifecycle_signals.h"
#include "server/path_mux.h"
#include "server/request_metrics.h"
#include "server/watched_log.h"

namespace apiserver::inline v0::server {

// The one implementation of GenericAPIServer. What is served changes by swapping ApiState.
class Server final : public GenericAPIServer {
 public:
  Server(Config config, Server* delegate);
  ~Server() override;

  runtime::Scheme& scheme() override { return scheme_; }
  Status InstallAPIGroup(APIGroupInfo group) override {
    return InstallGroup(std::move(group), false);
  }
  Status ReplaceAPIGroup(APIGroupInfo group) override {
    return InstallGroup(std::move(group), true);
  }
  Status HandlePath(std::string path, http::Handler handler, bool listed) override;
  Status HandlePathWithoutBody(std::string path, http::Handler handler, bool listed) override;
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

 private:
  // What answers a path: an API, a path beside the APIs or discovery, here or in a delegate. None
  // of them: the index of `server`. Only TargetOf decides it.
  struct Target {
    const Server* server = nullptr;
    std::shared_ptr<const ApiState> state = nullptr;
    const endpoints::Installed* installed = nullptr;  // Of `state`.
    bool discovery = false;                           // Of `state`.
    PathMux::Found path = {};
  };
  Target TargetOf(const std::string& path) const;
  static http::Step Serve(const Target& target, http::Exchange& exchange);
  // The last stop of the chain.
  http::Step Direct(http::Exchange& exchange) const;
  // Answers a request whose handler reads no body; Next for the others.
  http::Step BeforeBody(http::Exchange& exchange) const;
  bool IsLongRunning(const request::RequestInfo& info, std::string_view method) const;
  bool IsInstalled(const request::RequestInfo& info) const;
  // Of what this server or a delegate has stored.
  Result<storage::Stats> StatsOf(const request::RequestInfo& info) const;
  static http::Step ServeDiscovery(http::Exchange& exchange, const ApiState& state);
  http::Step NotFound(http::Exchange& exchange) const;
  // lifecycle.cc
  Status Listen();
  Status FollowCertificates();
  void LogProgress();
  http::Step ServeIndex(http::Exchange& exchange, int code) const;

  std::shared_ptr<const ApiState> State() const { return *state_.Lock(); }
  Status InstallGroup(APIGroupInfo group, bool replace);
  Result<std::shared_ptr<const ApiState>> NewState(
      std::vector<std::shared_ptr<const endpoints::Installed>> installed) const;
  Status InstallStandardPaths();
  Status InstallDebugPaths();
  // `pool`: where the check runs; null: it only looks at memory, and runs on whatever asks.
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
  WatchedLog log_{*config_.log, *config_.clock};  // What is logged to, in front of the host's.
  Server* delegate_;                              // Null: none.
  std::string loopback_token_;
  std::unique_ptr<Random> audit_ids_;
  const std::shared_ptr<metrics::Registry> metrics_ =
      config_.metrics ? config_.metrics : metrics::NewRegistry();
  // Of health checks, which are scraped more often than the rest.
  const std::shared_ptr<metrics::Registry> slis_ = metrics::NewRegistry();
  const std::unique_ptr<Auditing> auditing_ = Auditing::Of(config_, *metrics_);
  RequestMetrics request_metrics_{*metrics_};
  admission::Chain admission_;
  const EquivalentResources equivalents_;
  endpoints::Environment environment_;
  runtime::Scheme scheme_;
  PathMux mux_;
  Health healthz_;
  Health livez_;
  Health readyz_;
  Hooks post_start_;
  Hooks pre_shutdown_;
  InFlight in_flight_;
  LifecycleSignals signals_;
  std::unique_ptr<ThreadPool> pool_;
  const std::shared_ptr<MemoryBudget> memory_;
  Context::Registration memory_shown_;
  Context::Registration process_shown_;
  FlowControlParts flow_control_;
  http::Service service_;
  std::unique_ptr<http::Listener> listener_;
  std::unique_ptr<DebugSocket> debug_socket_;   // Null: none.
  std::unique_ptr<WatchedFiles> certificates_;  // Null: none to follow.
  Guarded<Executor::Cancel> progress_;
  // Storages of all groups, for Destroy().
  Guarded<std::vector<std::shared_ptr<rest::Storage>>> storages_;
  Guarded<std::shared_ptr<const ApiState>> state_;
  // Of what hooks do; cancelled when the server stops.
  Context running_ = Context::Child(Context::Background());
  // Of health checks, which are asked until the last request is answered.
  const Context checks_ = Context::Child(Context::Background());
  std::atomic<int> port_{0};
  std::atomic<bool> prepared_{false};
  std::atomic<bool> started_{false};
  Guarded<bool> stopped_{false};
};

}  // namespace apiserver::inline v0::server
