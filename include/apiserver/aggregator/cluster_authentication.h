#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "apiserver/base/clock.h"
#include "apiserver/base/log.h"
#include "apiserver/base/status.h"
#include "apiserver/server/server.h"

// The ConfigMap kube-system/extension-apiserver-authentication, from which extension servers learn
// whom a cluster's servers trust: k8s.io/kubernetes/pkg/controlplane/controller,
// clusterauthenticationtrust.
namespace apiserver::inline v0::aggregator {

// The authorities that a server trusts to say who a user is, and the headers of front proxies.
struct ClusterAuthentication {
  std::string client_ca_pem = {};          // The authorities of users. Empty: there are none.
  std::string request_header_ca_pem = {};  // Those of front proxies. Empty: there are none.
  // The headers by which front proxies name users.
  std::vector<std::string> username_headers = {"X-Remote-User"};
  std::vector<std::string> uid_headers = {"X-Remote-Uid"};
  std::vector<std::string> group_headers = {"X-Remote-Group"};
  std::vector<std::string> extra_header_prefixes = {"X-Remote-Extra-"};
  // The names that the certificate of a front proxy may have. Empty: any.
  std::vector<std::string> allowed_names = {};
};

// Returns the data of the ConfigMap: what is `stored`, perhaps by other servers, together with
// `own`. Certificates that have expired are left out. kInvalid: what is stored cannot be read.
Result<std::map<std::string, std::string>> MergeClusterAuthentication(
    const std::map<std::string, std::string>& stored, const ClusterAuthentication& own,
    const Clock& clock);

// Options of PublishClusterAuthentication().
struct PublishOptions {
  // Required. Returns whom the server trusts now. Called on the pool; may block.
  std::function<ClusterAuthentication()> own;
  // How often it is looked at whether the ConfigMap is as it should be.
  std::chrono::milliseconds period = std::chrono::minutes(1);
  std::chrono::milliseconds pause_after_failure = std::chrono::seconds(1);
  const Clock* clock = &RealClock();  // Must outlive the server.
  LogSink* log = &NullLogSink();      // Must outlive the server.
};

// Writes the ConfigMap when the server starts, and again when it differs; the server must serve
// namespaces and configmaps. Call it once, before PrepareRun. A failure is logged and tried again.
Status PublishClusterAuthentication(server::GenericAPIServer& server, PublishOptions options);

}  // namespace apiserver::inline v0::aggregator
