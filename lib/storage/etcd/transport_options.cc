#include "storage/etcd/transport_options.h"

#include <algorithm>
#include <string>

#include "apiserver/base/file_system.h"
#include "base/status_macros.h"

namespace apiserver::v0::storage::etcd {
namespace {

// Returns the file's text; empty for no path.
Result<std::string> ReadFile(const std::string& path) {
  if (path.empty()) return std::string();
  return RealFileSystem().Read(path);
}

}  // namespace

Result<HttpRpcOptions> TransportOf(const Options& options) {
  HttpRpcOptions transport;
  ASSIGN_OR_RETURN(transport.endpoints, ParseEndpoints(options.servers));
  if (options.cert_file.empty() != options.key_file.empty()) {
    return Status(Reason::kInvalid, "etcd's client certificate and its key go together");
  }
  const bool files = !options.ca_file.empty() || !options.cert_file.empty();
  const bool tls = std::any_of(transport.endpoints.begin(), transport.endpoints.end(),
                               [](const Endpoint& endpoint) { return endpoint.tls; });
  if (files && !tls) {
    return Status(Reason::kInvalid, "certificates for etcd are of no use: no server is https");
  }
  transport.tls.system_roots = options.ca_file.empty();
  transport.tls.server_name = options.server_name;
  ASSIGN_OR_RETURN(transport.tls.ca_pem, ReadFile(options.ca_file));
  ASSIGN_OR_RETURN(transport.tls.client.certificate_pem, ReadFile(options.cert_file));
  ASSIGN_OR_RETURN(transport.tls.client.key_pem, ReadFile(options.key_file));
  if (tls) RETURN_IF_ERROR(http::CheckClientTls(transport.tls));
  transport.keepalive_time = options.keepalive_time;
  transport.keepalive_timeout = options.keepalive_timeout;
  return transport;
}

}  // namespace apiserver::v0::storage::etcd
