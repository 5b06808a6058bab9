#include "aggregator/control/backend.h"

#include <utility>

#include "apiserver/proxy/auth_headers.h"
#include "apiserver/proxy/upstream_pool.h"
#include "base/status_macros.h"

namespace apiserver::v0::aggregator {
namespace {

Result<http::ClientResponse> Read(const Context& ctx, http::Connection& connection,
                                  const http::ClientRequest& request) {
  ASSIGN_OR_RETURN(const auto stream, connection.Open(request));
  ASSIGN_OR_RETURN(http::ResponseHead head, stream->Head(ctx));
  http::ClientResponse answer{.code = head.code, .headers = std::move(head.headers)};
  while (true) {
    ASSIGN_OR_RETURN(const std::string bytes, stream->Read(ctx));
    if (bytes.empty()) return answer;
    if (answer.body.size() + bytes.size() > Backend::kAnswerBytesMax) {
      return Status(Reason::kRequestEntityTooLarge, "the answer is too large");
    }
    answer.body += bytes;
  }
}

}  // namespace

Result<http::ClientResponse> Backend::Get(const Context& ctx, const ProxiedAPIService& service,
                                          const Request& request, std::string& url) const {
  ASSIGN_OR_RETURN(const std::string host,
                   needs_.resolver->ResolveEndpoint(service.service_namespace, service.service_name,
                                                    service.service_port));
  url = "https://" + host + request.path;
  ASSIGN_OR_RETURN(const proxy::Endpoint endpoint,
                   proxy::EndpointOf({.scheme = "https", .host = host}));
  http::DialOptions dial{
      .host = endpoint.host, .port = endpoint.port, .connect_timeout = request.timeout};
  http::ClientTls tls;
  tls.server_name = service.service_name + "." + service.service_namespace + ".svc";
  if (request.verify && !service.insecure_skip_tls_verify) {
    tls.ca_pem = service.ca_bundle_pem;
    tls.system_roots = service.ca_bundle_pem.empty();
  }
  if (needs_.proxy_client) {
    if (const auto client = needs_.proxy_client->Get()) tls.client = *client;
  }
  dial.tls = std::move(tls);

  http::ClientRequest sent{.target = request.path, .headers = request.headers};
  proxy::SetAuthProxyHeaders(sent.headers, {.name = request.user, .groups = request.groups});
  Context limited = Context::Child(ctx);
  limited.LimitTo(needs_.clock->Now() + request.timeout);
  ASSIGN_OR_RETURN(const auto connection, needs_.dialer->Dial(limited, dial));
  return Read(limited, *connection, sent);
}

}  // namespace apiserver::v0::aggregator
