#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "apiserver/auth/authorizer.h"
#include "apiserver/auth/rules.h"
#include "apiserver/authz/rbac.h"
#include "apiserver/base/clock.h"
#include "apiserver/base/executor.h"
#include "apiserver/base/file_system.h"
#include "apiserver/base/log.h"
#include "apiserver/base/metrics.h"
#include "apiserver/base/status.h"
#include "apiserver/client/client_config.h"
#include "apiserver/client/http_client.h"
#include "apiserver/client/webhook.h"

// Follows the file of --authorization-config while a server runs:
// k8s.io/kubernetes/pkg/kubeapiserver/authorizer/reload.go.
namespace apiserver::inline v0::authz {

// Options of the file.
struct AuthorizationConfigFileOptions {
  std::string path;  // Required.
  // Required. Reads files, so it must be one that may block. Outlives the returned objects.
  Executor* executor = nullptr;
  // The period at which the file is checked for changes.
  std::chrono::nanoseconds period = std::chrono::minutes(1);
  FileSystem* files = &RealFileSystem();
  // The authorizer for type RBAC. Null: RBAC is refused.
  std::shared_ptr<const rbac::RbacAuthorizer> rbac = {};
  // Makes the clients of webhooks. Null: client::NewHttpClientFactory().
  client::HttpClientFactory new_client = {};
  // kRefused: a webhook's kubeconfig with a credential plug-in makes the file invalid.
  client::ExecPlugIns exec_plug_ins = client::ExecPlugIns::kAllowed;
  // The cluster of the pod that this server runs in. Absent: InClusterConfig is refused.
  std::optional<client::ClientConfig> cluster = {};
  client::Backoff backoff = {};  // The retries of webhooks.
  const Clock* clock = &RealClock();
  // Null: nothing is counted. Else apiserver_authorization_decisions_total,
  // apiserver_authorization_webhook_* and apiserver_authorization_config_controller_*.
  metrics::Registry* metrics = nullptr;
  std::string server_id = {};  // A label of metrics.
  LogSink* log = &NullLogSink();
};

// The file in use. Methods may be called from any thread. Objects that it returned outlive it, and
// then keep their last state.
class AuthorizationConfigFile {
 public:
  virtual ~AuthorizationConfigFile() = default;  // Stops watching.

  // Allows system:masters everything; other users are checked by the authorizers in the current
  // file, one after the other. Each request is decided by one version of the file. A file that is
  // invalid, or that cannot be read, changes nothing; the log has the reason, and it is counted.
  virtual std::shared_ptr<const auth::Authorizer> authorizer() const = 0;
  // Lists the rules of a user, as far as the authorizers can list theirs.
  virtual std::shared_ptr<const auth::RuleResolver> rules() const = 0;
  // True if the file had this type when the server started. That does not change: a file that lacks
  // one of those types, or has RBAC where the first had none, is refused. Webhooks may come and go.
  virtual bool Has(std::string_view type) const = 0;
  // Checks the file now, on the calling thread; may block.
  virtual Status Check() = 0;
};

// Reads the file, and the kubeconfigs that it names. kInvalid: its path, and all faults with their
// lines. Other errors: it cannot be read. A kubeconfig is read again when the file changes; the
// tokens and certificates that it names are followed.
Result<std::unique_ptr<AuthorizationConfigFile>> LoadAuthorizationConfigFile(
    const AuthorizationConfigFileOptions& options);

}  // namespace apiserver::inline v0::authz
