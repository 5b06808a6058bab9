#include <charconv>

#include "apiserver/client/client.h"

namespace apiserver::v0::client {
namespace {

// Splits "host:port" and "[::1]:port"; false: the port is no number.
bool SplitAuthority(std::string_view authority, http::DialOptions& options) {
  const std::size_t bracket = authority.rfind(']');
  const std::size_t colon = authority.rfind(':');
  const bool has_port =
      colon != std::string_view::npos && (bracket == std::string_view::npos || colon > bracket);
  std::string_view host = authority.substr(0, has_port ? colon : authority.size());
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  options.host = host;
  if (!has_port) return !host.empty();
  const std::string_view port = authority.substr(colon + 1);
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), options.port);
  return !host.empty() && error == std::errc() && end == port.data() + port.size() &&
         options.port > 0 && options.port < 65536;
}

}  // namespace

Result<http::DialOptions> DialOptionsFor(const Kubeconfig& config) {
  http::DialOptions options;
  std::string_view rest = config.server;
  const bool secure = rest.starts_with("https://");
  options.port = secure ? 443 : 80;
  const std::size_t scheme = secure ? 8 : rest.starts_with("http://") ? 7 : 0;
  rest.remove_prefix(scheme);
  rest = rest.substr(0, rest.find('/'));
  if (scheme == 0 || !SplitAuthority(rest, options)) {
    return Status(Reason::kInvalid,
                  "kubeconfig: the server is no http(s)://host:port: " + config.server);
  }
  if (secure) {
    options.tls = http::ClientTls{.ca_pem = config.ca_pem,
                                  .system_roots = config.ca_pem.empty(),
                                  .server_name = config.tls_server_name,
                                  .client = {config.client_certificate_pem, config.client_key_pem}};
  }
  return options;
}

}  // namespace apiserver::v0::client
