#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "apiserver/base/file_system.h"
#include "apiserver/base/status.h"
#include "apiserver/client/client_config.h"

// The credentials for webhooks: k8s.io/apiserver/pkg/util/webhook/authentication.go.
namespace apiserver::inline v0::client {

// The users of a kubeconfig, named after the servers that they are for. Immutable.
class WebhookUsers final {
 public:
  // Has no credentials for any server.
  WebhookUsers() = default;
  // Reads kubeconfig text; relative file names are relative to `folder`. kInvalid: malformed, a
  // duplicate name, a plug-in (exec), or a setting that ReadClientConfig() does not support either.
  static Result<WebhookUsers> Read(std::string_view kubeconfig, const std::string& folder);
  // The same, from a file; errors begin with its name. kInvalid, too: it names a missing file.
  static Result<WebhookUsers> ReadFile(const FileSystem& files, const std::string& path);

  // Sets the credentials for the API server of this pod's cluster, by its name in the cluster
  // (kubernetes.default.svc:443). They apply if no user is named after it.
  void SetCluster(ClientConfig cluster) { cluster_ = std::move(cluster); }

  // Returns the credentials for the webhook at "host:port": the user of that name; of
  // "*.<rest>:port", the longest rest first; for port 443 the same without the port; "*"; the user
  // of the current context. Only credentials and the cluster's authority are set. Null: the webhook
  // is called without credentials.
  const ClientConfig* For(std::string_view host_port) const;

 private:
  const ClientConfig* Named(std::string_view name) const;
  // Looks for `name`, then for "*." and its end.
  const ClientConfig* Matching(std::string_view name) const;

  std::map<std::string, ClientConfig, std::less<>> users_;
  std::string current_;  // A key of users_.
  std::optional<ClientConfig> cluster_;
};

}  // namespace apiserver::inline v0::client
