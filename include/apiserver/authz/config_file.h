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

// The file of --authorization-config while a server runs: k8s.io/kubernetes/pkg/kubeapiserver/
// authorizer/reload.go.
namespace apiserver::inline v0::authz {

struct AuthorizationConfigFileOptions {
  std::string path;  // Required.
  // Required; files are read there, so it must be one that may block. Outlives what is handed out.
  Executor* executor = nullptr;
  // How often the file is looked at.
  std::chrono::nanoseconds period = std::chrono::minutes(1);
  FileSystem* files = &RealFileSystem();
  // Who is asked where the file says RBAC. Null: RBAC is refused.
  std::shared_ptr<const rbac::RbacAuthorizer> rbac = {};
  // Asks webhooks. Null: client::NewHttpClientFactory().
  client::HttpClientFactory new_client = {};
  // The cluster of the pod that this server runs in. Absent: InClusterConfig is refused.
  std::optional<client::ClientConfig> cluster = {};
  client::Backoff backoff = {};  // Of webhooks.
  const Clock* clock = &RealClock();
  // Null: nothing is counted. Else apiserver_authorization_decisions_total,
  // apiserver_authorization_webhook_* and apiserver_authorization_config_controller_*.
  metrics::Registry* metrics = nullptr;
  std::string server_id = {};  // Of metrics.
  LogSink* log = &NullLogSink();
};

// Any thread. What it hands out outlives it, and stays then as it was.
class AuthorizationConfigFile {
 public:
  virtual ~AuthorizationConfigFile() = default;  // Looks no more.

  // system:masters may everything; of the rest decide those whom the file names now, one after the
  // other. Each question is put to one version of the file. A file that is wrong, or that cannot be
  // read, changes nothing; the log says why, and it is counted.
  virtual std::shared_ptr<const auth::Authorizer> authorizer() const = 0;
  // What they allow somebody, as far as they can list it.
  virtual std::shared_ptr<const auth::RuleResolver> rules() const = 0;
  // Whether the file named this type when the server started. That does not change: a file without
  // one of those types, or with RBAC where it was not, is refused. Webhooks may come and go.
  virtual bool Has(std::string_view type) const = 0;
  // Looks now, on the calling thread.
  virtual Status Check() = 0;
};

// Reads the file, and the kubeconfigs that it names, first. kInvalid: its path, and everything that
// is wrong in it with its line. Other errors: it cannot be read. A kubeconfig is read when the file
// changes; the tokens and certificates that it names are followed.
Result<std::unique_ptr<AuthorizationConfigFile>> LoadAuthorizationConfigFile(
    const AuthorizationConfigFileOptions& options);

}  // namespace apiserver::inline v0::authz
