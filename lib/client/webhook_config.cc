#include "apiserver/client/webhook_config.h"

#include <algorithm>
#include <utility>

#include "apiserver/http/message.h"
#include "apiserver/meta/validation.h"
#include "base/status_macros.h"
#include "http/pem.h"
#include "http/tokens.h"

namespace apiserver::inline v0::client {
namespace {

constexpr std::string_view kUrlForm = "; desired format: https://host[/path]";

class ClusterDns final : public ServiceResolver {
 public:
  Result<std::string> ResolveEndpoint(std::string_view namespace_, std::string_view name,
                                      int port) const override {
    if (namespace_.empty() || name.empty() || port == 0) {
      return Status(Reason::kInvalid, "cannot resolve an empty service name or namespace");
    }
    return std::string(name) + "." + std::string(namespace_) + ".svc:" + std::to_string(port);
  }
};

// The parts of a URL that a webhook's may or may not have.
struct UrlParts {
  std::string problem;  // Not empty: it is none, in Go's words.
  std::string scheme;
  std::string user;
  bool has_user = false;  // It may be empty.
  std::string host;       // With the port.
  std::string query;
  std::string fragment;
};

// Up to the first of `ends`, which stays in `rest`.
std::string_view TakeUntil(std::string_view& rest, std::string_view ends) {
  const std::size_t end = std::min(rest.find_first_of(ends), rest.size());
  const std::string_view taken = rest.substr(0, end);
  rest.remove_prefix(end);
  return taken;
}

bool IsScheme(std::string_view text) {
  const auto alpha = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  return !text.empty() && alpha(text[0]) && std::all_of(text.begin(), text.end(), [&](char c) {
    return alpha(c) || (c >= '0' && c <= '9') || c == '+' || c == '-' || c == '.';
  });
}

// What is wrong with a host's characters and escapes, of which Go knows only "%25" and those of
// bytes beyond ASCII: no letter or digit is written so.
std::string HostTextProblem(std::string_view host) {
  constexpr std::string_view kBad = " \\^`{|}";
  for (std::size_t i = 0; i < host.size(); ++i) {
    if (kBad.find(host[i]) != std::string_view::npos) {
      return "invalid character " + field::Quote(host.substr(i, 1)) + " in host name";
    }
    if (host[i] != '%') continue;
    const std::string_view escape = host.substr(i, 3);
    const int high = escape.size() == 3 ? http::HexValue(escape[1]) : -1;
    const bool hex = high >= 0 && http::HexValue(escape[2]) >= 0;
    if (!hex || (high < 8 && escape != "%25")) return "invalid URL escape " + field::Quote(escape);
  }
  return "";
}

// As parseHost of Go's net/url.
std::string HostProblem(std::string_view host) {
  std::string_view port;
  std::string_view text = host;
  if (host.starts_with('[')) {
    const std::size_t bracket = host.rfind(']');
    if (bracket == std::string_view::npos) return "missing ']' in host";
    port = host.substr(bracket + 1);
    // A zone may be anything.
    text = host.substr(0, std::min(host.find("%25"), bracket));
  } else if (const std::size_t colon = host.rfind(':'); colon != std::string_view::npos) {
    port = host.substr(colon);
  }
  const bool good =
      port.empty() || (port[0] == ':' && std::all_of(port.begin() + 1, port.end(),
                                                     [](char c) { return c >= '0' && c <= '9'; }));
  if (!good) return "invalid port " + field::Quote(port) + " after host";
  return HostTextProblem(text);
}

// As validUserinfo of Go's net/url.
bool IsUserInfo(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) {
    const bool alpha = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    return alpha || std::string_view("-._:~!$&'()*+,;=%@").find(c) != std::string_view::npos;
  });
}

UrlParts SplitUrl(std::string_view url) {
  UrlParts parts;
  std::string_view rest = url;
  if (std::any_of(url.begin(), url.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; })) {
    parts.problem = "net/url: invalid control character in URL";
    return parts;
  }
  std::string_view before_fragment = TakeUntil(rest, "#");
  if (!rest.empty()) parts.fragment = rest.substr(1);
  rest = before_fragment;
  const std::string_view scheme = rest.substr(0, std::min(rest.find(':'), rest.size()));
  if (scheme.empty() && rest.starts_with(':')) {
    parts.problem = "missing protocol scheme";
    return parts;
  }
  if (scheme.size() < rest.size() && IsScheme(scheme)) {
    parts.scheme = scheme;
    std::transform(scheme.begin(), scheme.end(), parts.scheme.begin(), [](char c) {
      return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    });
    rest.remove_prefix(scheme.size() + 1);
  }
  const std::string_view before_query = TakeUntil(rest, "?");
  if (!rest.empty()) parts.query = rest.substr(1);
  rest = before_query;
  if (rest.starts_with("//")) {
    rest.remove_prefix(2);
    std::string_view authority = TakeUntil(rest, "/");
    if (const std::size_t at = authority.rfind('@'); at != std::string_view::npos) {
      parts.user = authority.substr(0, at);
      parts.has_user = true;
      authority.remove_prefix(at + 1);
    }
    parts.host = authority;
    parts.problem = HostProblem(authority);
    if (parts.problem.empty() && !IsUserInfo(parts.user)) {
      parts.problem = "net/url: invalid userinfo";
    }
  }
  if (parts.problem.empty() && !http::PercentDecode(rest)) parts.problem = "invalid URL escape";
  return parts;
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
  target.options.tls.server_name = name;
  target.url = "https://" + name + ":" + std::to_string(port);
  if (!service.path.starts_with('/')) target.url += "/";
  target.url += service.path;
  return target;
}

field::ErrorList ValidateWebhookURL(const field::Path& path, std::string_view url,
                                    bool force_https) {
  field::ErrorList errors;
  const std::string form(kUrlForm);
  const UrlParts parts = SplitUrl(url);
  if (!parts.problem.empty()) {
    errors.Required(
        path, "url must be a valid URL: parse " + field::Quote(url) + ": " + parts.problem + form);
    return errors;
  }
  if (force_https && parts.scheme != "https") {
    errors.Invalid(path, parts.scheme, "'https' is the only allowed URL scheme" + form);
  }
  if (parts.host.empty()) errors.Invalid(path, parts.host, "host must be specified" + form);
  if (parts.has_user) {
    errors.Invalid(path, parts.user, "user information is not permitted in the URL");
  }
  if (!parts.fragment.empty()) {
    errors.Invalid(path, parts.fragment, "fragments are not permitted in the URL");
  }
  if (!parts.query.empty()) {
    errors.Invalid(path, parts.query, "query parameters are not permitted in the URL");
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

}  // namespace apiserver::inline v0::client
