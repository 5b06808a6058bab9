#include "storage/etcd/transport_options.h"

#include <algorithm>
#include <string>
#include <utility>

#include "apiserver/base/file_system.h"
#include "base/status_macros.h"
#include "storage/etcd/token_rpc.h"

namespace apiserver::v0::storage::etcd {
namespace {

// Returns the file's text; empty for no path.
Result<std::string> ReadFile(const std::string& path) {
  if (path.empty()) return std::string();
  return RealFileSystem().Read(path);
}

// Returns the user that logs in; none: nobody does.
Result<std::optional<EtcdUser>> UserOf(const Options& options) {
  if (options.user.empty() != options.password_file.empty()) {
    return Status(Reason::kInvalid, "etcd's user and the file with its password go together");
  }
  if (options.user.empty()) return std::optional<EtcdUser>();
  ASSIGN_OR_RETURN(std::string password, ReadFile(options.password_file));
  while (password.ends_with('\n') || password.ends_with('\r')) password.pop_back();
  return std::optional<EtcdUser>({options.user, std::move(password)});
}

}  // namespace

Result<Transport> TransportOf(const Options& options) {
  Transport made;
  HttpRpcOptions& transport = made.http;
  ASSIGN_OR_RETURN(made.user, UserOf(options));
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
  return made;
}

std::shared_ptr<Rpc> NewRpc(Transport transport) {
  if (!transport.user) return NewHttpRpc(transport.http);
  transport.http.token = std::make_shared<SharedToken>();
  return NewTokenRpc(NewHttpRpc(transport.http), *std::move(transport.user), transport.http.token);
}

}  // namespace apiserver::v0::storage::etcd
