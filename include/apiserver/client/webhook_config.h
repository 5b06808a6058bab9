#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "apiserver/base/field_path.h"
#include "apiserver/base/status.h"
#include "apiserver/client/http_client.h"

// Where a webhook is, as API objects say it, and what may stand there:
// k8s.io/apiserver/pkg/util/webhook/client.go and validation.go.
namespace apiserver::inline v0::client {

struct WebhookService {
  std::string namespace_;
  std::string name;
  std::string path = {};
  int port = 443;
};

// One of url and service.
struct WebhookClientConfig {
  std::string url = {};
  std::optional<WebhookService> service = {};
  std::string ca_bundle = {};  // PEM; empty: the machine's authorities.
};

// Finds services. Any thread; must not wait.
class ServiceResolver {
 public:
  virtual ~ServiceResolver() = default;
  // "host:port". kInvalid: no name, namespace or port.
  virtual Result<std::string> ResolveEndpoint(std::string_view namespace_, std::string_view name,
                                              int port) const = 0;
};
// By the cluster's DNS: "<name>.<namespace>.svc:<port>". Lives as long as the process; stateless.
const ServiceResolver& DefaultServiceResolver();

struct WebhookTarget {
  std::string url;
  HttpClientOptions options;
};
// What to call and how. A service is called by its name in the cluster, which its certificate must
// bear, wherever the resolver says that it is. kInvalid: neither url nor service, or the
// resolver's.
Result<WebhookTarget> TargetOf(const WebhookClientConfig& config,
                               const ServiceResolver& resolver = DefaultServiceResolver());

// What is wrong with the fields of a webhook's clientConfig, in Kubernetes' words.
field::ErrorList ValidateWebhookURL(const field::Path& path, std::string_view url,
                                    bool force_https = true);
// `url_path` absent: none was given.
field::ErrorList ValidateWebhookService(const field::Path& path, std::string_view namespace_,
                                        std::string_view name,
                                        const std::optional<std::string>& url_path, int port);
field::ErrorList ValidateCABundle(const field::Path& path, std::string_view ca_bundle);

}  // namespace apiserver::inline v0::client
