#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "apiserver/base/context.h"
#include "apiserver/base/progress.h"
#include "apiserver/http/in_process.h"
#include "apiserver/http/listener.h"
#include "server/hooks.h"
#include "server/requests/in_flight.h"
#include "server/requests/lifecycle_signals.h"

namespace apiserver::inline v0::server {

struct ShutdownOptions {
  // The time between ShutdownInitiated and the first change of service.
  std::chrono::milliseconds delay{0};
  std::chrono::milliseconds grace{0};  // The time for running requests to finish.
  // The time over which watches are ended; 0: all at once.
  std::chrono::milliseconds watch_grace{0};
  // If set, new requests are answered 429 while running ones are finished, and the listener stops
  // after that; otherwise it stops first.
  bool send_retry_after = false;
};

// The parts of a server that a shutdown uses; all must outlive it.
struct ShutdownParts {
  std::string name;                        // The server's name, for reports.
  std::shared_ptr<ProgressSink> progress;  // Receives the job "drain". Null: no reports.
  HookContext context;                     // Its Context is cancelled when nothing new is accepted.
  Hooks& pre_shutdown_hooks;
  InFlight& in_flight;
  http::Listener* listener = nullptr;  // Null: in process only.
  http::InProcessConnections& in_process;
  // Called when all requests are over and nothing more will be recorded of them, before the
  // listener goes: buffered audit events must be written now. It runs on ShutDown's thread and may
  // block.
  std::function<void()> flush = {};
};

// Takes a server out of service through the phases of LifecycleSignals; blocks. After it the
// server's parts can be destroyed. Called once.
// k8s.io/apiserver/pkg/server.(preparedGenericAPIServer).RunWithContext.
void ShutDown(const ShutdownOptions& options, const ShutdownParts& parts,
              LifecycleSignals& signals);

}  // namespace apiserver::inline v0::server
