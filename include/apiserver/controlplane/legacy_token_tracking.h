#pragma once

#include <chrono>

#include "apiserver/base/clock.h"
#include "apiserver/base/log.h"
#include "apiserver/base/status.h"
#include "apiserver/server/server.h"

// The ConfigMap that tells since when uses of service account tokens from Secrets are tracked:
// k8s.io/kubernetes/pkg/controlplane/controller/legacytokentracking.
namespace apiserver::inline v0::controlplane {

inline constexpr char kLegacyTokenTracking[] =
    "kube-apiserver-legacy-service-account-token-tracking";

// Options of AddLegacyTokenTracking().
struct LegacyTokenTrackingOptions {
  // The time between two looks at the ConfigMap.
  std::chrono::milliseconds period = std::chrono::minutes(1);
  std::chrono::milliseconds pause_after_failure = std::chrono::seconds(1);
  // The shortest time between two creations: an older server of the cluster may delete it.
  std::chrono::milliseconds creation_period = std::chrono::minutes(30);
  const Clock* clock = &RealClock();  // Must outlive the server.
  LogSink* log = &NullLogSink();      // Must outlive the server.
};

// Adds the hook start-legacy-token-tracking-controller, which writes the ConfigMap
// kLegacyTokenTracking of the namespace kube-system, and mends a date that cannot be read. Failures
// are logged and tried again. The server must serve configmaps. Call it once, before PrepareRun.
// kConflict: there is such a hook.
Status AddLegacyTokenTracking(server::GenericAPIServer& server,
                              LegacyTokenTrackingOptions options = {});

}  // namespace apiserver::inline v0::controlplane
