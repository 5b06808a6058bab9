#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "apiserver/base/clock.h"
#include "apiserver/base/log.h"
#include "apiserver/base/random.h"
#include "apiserver/base/status.h"
#include "apiserver/server/server.h"

// The Lease by which a server tells that it lives: k8s.io/kubernetes/pkg/controlplane/apiserver,
// and pkg/controlplane/controller/apiserverleasegc.
namespace apiserver::inline v0::controlplane {

// Returns the name of a server's Lease: "apiserver-" and a hash of the host's name and the
// server's, such as "kube-apiserver". server.Config.APIServerID.
std::string ApiServerId(std::string_view hostname, std::string_view server);

// Options of AddIdentityLease().
struct IdentityLeaseOptions {
  std::string hostname = {};  // Empty: the machine's.
  std::string server = "kube-apiserver";
  std::string lease_namespace = "kube-system";
  std::chrono::seconds duration = std::chrono::seconds(3600);
  std::chrono::milliseconds renew_period = std::chrono::seconds(10);
  std::chrono::milliseconds pause_after_failure = std::chrono::milliseconds(200);
  // The time between two looks for Leases that have expired.
  std::chrono::milliseconds gc_period = std::chrono::seconds(3600);
  const Clock* clock = &RealClock();  // Must outlive the server.
  Random* random = &SecureRandom();   // Used during the call alone.
  LogSink* log = &NullLogSink();      // Must outlive the server.
};

// Adds the hooks start-kube-apiserver-identity-lease-controller, which renews the Lease and makes
// it anew at a start, and start-kube-apiserver-identity-lease-garbage-collector, which deletes
// expired Leases of such servers. The Lease is deleted when the server stops. Failures are logged
// and tried again. The server must serve leases. Call it once, before PrepareRun. kConflict: there
// is such a hook. kInternalError: the machine does not tell its name.
Status AddIdentityLease(server::GenericAPIServer& server, IdentityLeaseOptions options = {});

}  // namespace apiserver::inline v0::controlplane
