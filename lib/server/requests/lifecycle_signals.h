#pragma once

#include <atomic>
#include <string_view>

#include "apiserver/base/log.h"
#include "apiserver/base/sync.h"

namespace apiserver::inline v0::server {

// A phase of a server's life. It begins once; any thread.
class LifecycleSignal {
 public:
  LifecycleSignal(std::string_view name, LogSink& log) : name_(name), log_(log) {}

  void Signal() {
    if (signaled_.exchange(true)) return;
    Log(log_, LogLevel::kInfo, "lifecycle", {{"phase", std::string(name_)}});
    notification_.Notify();
  }
  // Costs one load: filters ask on every request.
  bool Signaled() const { return signaled_.load(std::memory_order_relaxed); }
  void Wait() const { notification_.Wait(); }
  std::string_view name() const { return name_; }

 private:
  const std::string_view name_;
  LogSink& log_;
  std::atomic<bool> signaled_{false};
  Notification notification_;
};

// The phases, in the order in which they come: k8s.io/apiserver/pkg/server/lifecycle_signals.go.
struct LifecycleSignals {
  explicit LifecycleSignals(LogSink& sink) : log(sink) {}

  LogSink& log;
  // Everything has been installed: a path that is not found from now on does not exist.
  LifecycleSignal mux_and_discovery_complete{"MuxAndDiscoveryComplete", log};
  // /readyz succeeded for the first time.
  LifecycleSignal has_been_ready{"HasBeenReady", log};
  // A stop was requested; /readyz fails, everything else goes on.
  LifecycleSignal shutdown_initiated{"ShutdownInitiated", log};
  // The time for load balancers to notice is over.
  LifecycleSignal after_shutdown_delay_duration{"AfterShutdownDelayDuration", log};
  // The pre-shutdown hooks have run.
  LifecycleSignal pre_shutdown_hooks_stopped{"PreShutdownHooksStopped", log};
  // Both of the above have come; connected clients are sent elsewhere.
  LifecycleSignal not_accepting_new_request{"NotAcceptingNewRequest", log};
  // Requests have been answered, watches have ended.
  LifecycleSignal in_flight_requests_drained{"InFlightRequestsDrained", log};
  LifecycleSignal http_server_stopped_listening{"HTTPServerStoppedListening", log};
};

}  // namespace apiserver::inline v0::server
