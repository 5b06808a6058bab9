#include "apiserver/client/webhook_config.h"

#include <algorithm>
#include <utility>

#include "apiserver/meta/validation.h"
#include "base/status_macros.h"
#include "http/pem.h"
#include "text/go_url.h"

namespace apiserver::v0::client {
namespace {

constexpr std::string_view kUrlForm = "; desired format: https://host[/path]";

class ClusterDns final : public ServiceResolver {
 public:
  Result<std::string> ResolveEndpoint(std::string_view namespace_, std::string_view name,
                                      int port) const override {
    if (namespace_.empty() || name.empty() || port == 0) {
      return Status(Reason::kInvalid, "cannot resolve an empty service name or namespace");
    }
    // As upstream, without the domain of the cluster, which is not known here.
    return std::string(name) + "." + std::string(namespace_) + ".svc:" + std::to_string(port);
  }
};

// Returns the text up to the first of `ends`, which stays in `rest`.
std::string_view TakeUntil(std::string_view& rest, std::string_view ends) {
  const std::size_t end = std::min(rest.find_first_of(ends), rest.size());
  const std::string_view taken = rest.substr(0, end);
  rest.remove_prefix(end);
  return taken;
}

}  // namespace

const ServiceResolver& DefaultServiceResolver() {
  static const ClusterDns resolver;
  return resolver;
}

Result<WebhookTarget> TargetOf(const WebhookClientConfig& config, const ServiceResolver& resolver) {
  WebhookTarget target;
  target.options.tls.ca_pem = config.ca_bundle;
  if (!config.service) {
    if (config.url.empty()) {
      return Status(Reason::kInvalid, "webhook configuration must have either service or URL");
    }
    target.url = config.url;
    return target;
  }
  const WebhookService& service = *config.service;
  const std::string name = service.name + "." + service.namespace_ + ".svc";
  const int port = service.port == 0 ? 443 : service.port;
  ASSIGN_OR_RETURN(target.options.address,
                   resolver.ResolveEndpoint(service.namespace_, service.name, port));
  // The certificate must have the service's name, whatever address the resolver returns.
  target.options.tls.server_name = name;
  target.url = "https://" + name + ":" + std::to_string(port);
  if (!service.path.starts_with('/')) target.url += "/";
  target.url += service.path;
  return target;
}

// This and the following functions are those of util/webhook/validation.go in k8s.io/apiserver.
field::ErrorList ValidateWebhookURL(const field::Path& path, std::string_view url,
                                    bool force_https) {
  field::ErrorList errors;
  const std::string form(kUrlForm);
  const text::Read<text::GoUrl> parsed = text::ParseGoUrl(url);
  if (!parsed.ok()) {
    errors.Required(path, "url must be a valid URL: " + parsed.error().message() + form);
    return errors;
  }
  if (force_https && parsed->scheme != "https") {
    errors.Invalid(path, parsed->scheme, "'https' is the only allowed URL scheme" + form);
  }
  if (parsed->host.empty()) errors.Invalid(path, parsed->host, "host must be specified" + form);
  if (parsed->user) {
    errors.Invalid(path, parsed->user->String(), "user information is not permitted in the URL");
  }
  if (!parsed->fragment.empty()) {
    errors.Invalid(path, parsed->fragment, "fragments are not permitted in the URL");
  }
  if (!parsed->raw_query.empty()) {
    errors.Invalid(path, parsed->raw_query, "query parameters are not permitted in the URL");
  }
  return errors;
}

field::ErrorList ValidateWebhookService(const field::Path& path, std::string_view namespace_,
                                        std::string_view name,
                                        const std::optional<std::string>& url_path, int port) {
  field::ErrorList errors;
  if (name.empty()) errors.Required(path.Child("name"));
  if (namespace_.empty()) errors.Required(path.Child("namespace"));
  if (port < 1 || port > 65535) {
    errors.InvalidPrinted(path.Child("port"), std::to_string(port),
                          "port is not valid: must be between 1 and 65535, inclusive");
  }
  if (!url_path || url_path->empty() || *url_path == "/") return errors;
  const field::Path where = path.Child("path");
  if (*url_path == "//") {
    errors.Invalid(where, *url_path, "segment[0] may not be empty");
    return errors;
  }
  if (!url_path->starts_with('/')) errors.Invalid(where, *url_path, "must start with a '/'");
  std::string_view rest = std::string_view(*url_path).substr(1);
  // A slash at the end makes no empty segment.
  if (rest.ends_with('/')) rest.remove_suffix(1);
  for (std::size_t i = 0;; ++i) {
    const std::string_view step = TakeUntil(rest, "/");
    const std::string segment = "segment[" + std::to_string(i) + "]";
    if (step.empty()) {
      errors.Invalid(where, *url_path, segment + " may not be empty");
    } else {
      for (const auto& why : meta::IsDNS1123Subdomain(step)) {
        std::string detail = segment;
        detail.append(": ").append(why);
        errors.Invalid(where, *url_path, std::move(detail));
      }
    }
    if (rest.empty()) return errors;
    rest.remove_prefix(1);
  }
}

field::ErrorList ValidateCABundle(const field::Path& path, std::string_view ca_bundle) {
  field::ErrorList errors;
  if (ca_bundle.empty()) return errors;
  const Status read = http::ReadCertificates(std::string(ca_bundle)).status();
  if (!read.ok()) {
    errors.InvalidPrinted(path, "<CA bundle>",
                          "unable to load root certificates: unable to parse bytes as PEM block");
  }
  return errors;
}

}  // namespace apiserver::v0::client
