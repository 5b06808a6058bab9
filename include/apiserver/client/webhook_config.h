#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "apiserver/base/field_path.h"
#include "apiserver/base/status.h"
#include "apiserver/client/http_client.h"

// The address of a webhook in API objects, and its validation:
// k8s.io/apiserver/pkg/util/webhook/client.go and validation.go.
namespace apiserver::inline v0::client {

// A service of the cluster.
struct WebhookService {
  std::string namespace_;
  std::string name;
  std::string path = {};
  int port = 443;
};

// A webhook's address; exactly one of `url` and `service` is set.
struct WebhookClientConfig {
  std::string url = {};
  std::optional<WebhookService> service = {};
  std::string ca_bundle = {};  // PEM; empty: the machine's authorities.
};

// Resolves services to addresses. Called from any thread; must not block.
class ServiceResolver {
 public:
  virtual ~ServiceResolver() = default;
  // Returns "host:port". kInvalid: no name, namespace or port.
  virtual Result<std::string> ResolveEndpoint(std::string_view namespace_, std::string_view name,
                                              int port) const = 0;
};
// Uses the cluster's DNS: "<name>.<namespace>.svc:<port>". Lives as long as the process; stateless.
const ServiceResolver& DefaultServiceResolver();

// A URL with the options of a client for it.
struct WebhookTarget {
  std::string url;
  HttpClientOptions options;
};
// Returns the URL and client options for a webhook. A service is called by its name in the cluster,
// which its certificate must have, at the address that the resolver returns. kInvalid: neither url
// nor service, or the resolver's.
Result<WebhookTarget> TargetOf(const WebhookClientConfig& config,
                               const ServiceResolver& resolver = DefaultServiceResolver());

// Validates the fields of a webhook's clientConfig, with Kubernetes' messages.
field::ErrorList ValidateWebhookURL(const field::Path& path, std::string_view url,
                                    bool force_https = true);
// `url_path` absent: none was given.
field::ErrorList ValidateWebhookService(const field::Path& path, std::string_view namespace_,
                                        std::string_view name,
                                        const std::optional<std::string>& url_path, int port);
// Requires PEM certificates.
field::ErrorList ValidateCABundle(const field::Path& path, std::string_view ca_bundle);

}  // namespace apiserver::inline v0::client
