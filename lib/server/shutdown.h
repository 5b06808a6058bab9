#pragma once

#include <chrono>
#include <functional>

#include "apiserver/base/context.h"
#include "apiserver/http/listener.h"
#include "server/hooks.h"
#include "server/requests/in_flight.h"
#include "server/requests/lifecycle_signals.h"

namespace apiserver::inline v0::server {

struct ShutdownOptions {
  std::chrono::milliseconds delay{0};        // Between ShutdownInitiated and what changes service.
  std::chrono::milliseconds grace{0};        // For answers in progress.
  std::chrono::milliseconds watch_grace{0};  // Over which watches are ended; 0: all at once.
  // Answers new requests 429 while those in progress are finished, and stops listening after it,
  // rather than the other way round.
  bool send_retry_after = false;
};

// What takes part in a shutdown; all outlive it.
struct ShutdownParts {
  HookContext context;  // Its Context is cancelled when nothing new is accepted.
  Hooks& pre_shutdown_hooks;
  InFlight& in_flight;
  http::Listener* listener = nullptr;  // Null: in process only.
  // When all requests are over and nothing more will be recorded of them, before the listener goes:
  // what is buffered (audit) is to be written now.
  std::function<void()> flush = {};
};

// Takes a server out of service through the phases of LifecycleSignals; waits. What is left to do
// is to destroy what the server is made of. Once.
// k8s.io/apiserver/pkg/server.(preparedGenericAPIServer).RunWithContext.
void ShutDown(const ShutdownOptions& options, const ShutdownParts& parts,
              LifecycleSignals& signals);

}  // namespace apiserver::inline v0::server
