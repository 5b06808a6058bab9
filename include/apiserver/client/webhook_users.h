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

// As whom webhooks are called: k8s.io/apiserver/pkg/util/webhook/authentication.go.
namespace apiserver::inline v0::client {

// The users of a kubeconfig, whose names are the servers that they are for. Immutable.
class WebhookUsers final {
 public:
  // Nobody, wherever.
  WebhookUsers() = default;
  // Of kubeconfig text; relative file names are relative to `folder`. kInvalid: malformed, a name
  // that is given twice, or what ReadClientConfig() does not support of a user either.
  static Result<WebhookUsers> Read(std::string_view kubeconfig, const std::string& folder);
  // The same, of a file; errors begin with its name. kInvalid, too: it names a file that is not
  // there.
  static Result<WebhookUsers> ReadFile(const FileSystem& files, const std::string& path);

  // Who calls the API server that this server's pod runs under, by its name in the cluster
  // (kubernetes.default.svc:443), if no user is for that.
  void SetCluster(ClientConfig cluster) { cluster_ = std::move(cluster); }

  // Who calls the webhook at "host:port": the user of that name; of "*.<rest>:port", the longest
  // rest first; for port 443 the same without the port; "*"; the user of the current context. Only
  // credentials are set, and the cluster's authority. Null: nobody.
  const ClientConfig* For(std::string_view host_port) const;

 private:
  const ClientConfig* Named(std::string_view name) const;
  // Of `name`, or of "*." and its end.
  const ClientConfig* Matching(std::string_view name) const;

  std::map<std::string, ClientConfig, std::less<>> users_;
  std::string current_;  // Of users_.
  std::optional<ClientConfig> cluster_;
};

}  // namespace apiserver::inline v0::client
