#include "proxy/forward_headers.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "apiserver/proxy/auth_headers.h"
#include "http/tokens.h"

namespace apiserver::v0::proxy {
namespace {

constexpr std::array<std::string_view, 9> kHopByHop = {"Connection",
                                                       "Proxy-Connection",
                                                       "Keep-Alive",
                                                       "Proxy-Authenticate",
                                                       "Proxy-Authorization",
                                                       "Te",
                                                       "Trailer",
                                                       "Transfer-Encoding",
                                                       "Upgrade"};

bool IsOneOf(std::string_view name, const std::vector<std::string>& names) {
  return std::any_of(names.begin(), names.end(),
                     [name](const auto& each) { return http::EqualIgnoreCase(name, each); });
}

// Returns the elements of all fields `name`, which hold comma-separated lists.
std::vector<std::string> ListOf(const http::Headers& headers, std::string_view name) {
  std::vector<std::string> list;
  for (std::string_view value : headers.GetAll(name)) {
    while (!value.empty()) {
      const std::size_t comma = std::min(value.find(','), value.size());
      if (const auto each = http::Trim(value.substr(0, comma)); !each.empty()) {
        list.emplace_back(each);
      }
      value.remove_prefix(std::min(comma + 1, value.size()));
    }
  }
  return list;
}

// Returns the protocols of Upgrade without HTTP/2: over such a connection a client could send the
// backend any request in this server's name.
std::vector<std::string> UpgradeProtocols(const http::Headers& headers) {
  std::vector<std::string> protocols = ListOf(headers, "Upgrade");
  protocols.erase(std::remove_if(protocols.begin(), protocols.end(),
                                 [](const std::string& each) {
                                   return http::EqualIgnoreCase(each, "h2c") ||
                                          http::EqualIgnoreCase(each, "h2");
                                 }),
                  protocols.end());
  return protocols;
}

bool ContainsIgnoreCase(std::string_view text, std::string_view part) {
  for (std::size_t i = 0; i + part.size() <= text.size(); ++i) {
    if (http::EqualIgnoreCase(text.substr(i, part.size()), part)) return true;
  }
  return false;
}

bool WantsTrailers(const http::Headers& headers) {
  const auto values = headers.GetAll("TE");
  return std::any_of(values.begin(), values.end(),
                     [](auto value) { return http::HasToken(value, "trailers"); });
}

// The address of "10.0.0.1:80" or "[::1]:80". Empty: it has another form.
std::string_view HostOf(std::string_view address) {
  const std::size_t colon = address.rfind(':');
  if (colon == std::string_view::npos) return {};
  std::string_view host = address.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  return host;
}

// Host and Content-Length are written by the transport, and an expectation of the client has been
// met by this server: a backend that answered 100 would only confuse (CVE-2024-24791).
void RemoveTransportHeaders(http::Headers& headers) {
  (void)headers.Remove("Host");
  (void)headers.Remove("Content-Length");
  (void)headers.Remove("Expect");
}

}  // namespace

bool IsUpgradeRequest(const http::Request& request) {
  if (request.http_major != 1) return false;
  const auto connection = request.headers.GetAll("Connection");
  const bool asks = std::any_of(connection.begin(), connection.end(),
                                [](auto value) { return ContainsIgnoreCase(value, "upgrade"); });
  if (!asks) return false;
  return !request.headers.Has("Upgrade") || !UpgradeProtocols(request.headers).empty();
}

void RemoveHopByHop(http::Headers& headers) {
  const std::vector<std::string> named = ListOf(headers, "Connection");
  RemoveFields(headers, [&](const http::Headers::Field& field) {
    const bool fixed = std::any_of(kHopByHop.begin(), kHopByHop.end(), [&](auto name) {
      return http::EqualIgnoreCase(field.name, name);
    });
    return fixed || IsOneOf(field.name, named);
  });
}

void AppendForwardedFor(http::Headers& headers, std::string_view remote_address) {
  const std::string_view client = HostOf(remote_address);
  if (client.empty()) return;
  std::string all;
  for (const std::string_view prior : headers.GetAll("X-Forwarded-For")) {
    all.append(prior).append(", ");
  }
  headers.Set("X-Forwarded-For", all.append(client));
}

http::Headers PlainRequestHeaders(const http::Request& request) {
  http::Headers headers = request.headers;
  const bool trailers = WantsTrailers(headers);
  RemoveHopByHop(headers);
  RemoveTransportHeaders(headers);
  RemoveIdentity(headers);
  (void)headers.Remove("HTTP2-Settings");
  if (trailers) headers.Add("TE", "trailers");
  AppendForwardedFor(headers, request.remote_address);
  return headers;
}

http::Headers UpgradeRequestHeaders(const http::Request& request, const std::string& host) {
  std::string protocols;
  for (const std::string& each : UpgradeProtocols(request.headers)) {
    protocols.append(protocols.empty() ? "" : ", ").append(each);
  }
  http::Headers headers{{"Host", host}};
  http::Headers rest = request.headers;
  RemoveHopByHop(rest);
  RemoveTransportHeaders(rest);
  RemoveIdentity(rest);
  for (const http::Headers::Field& field : rest) headers.Add(field.name, field.value);
  headers.Add("Connection", "Upgrade");
  if (!protocols.empty()) headers.Add("Upgrade", protocols);
  AppendForwardedFor(headers, request.remote_address);
  return headers;
}

void SetForwardedUrl(http::Headers& headers, const ForwardedUrl& url) {
  if (!url.uri.empty()) headers.Set("X-Forwarded-Uri", url.uri);
  if (!url.host.empty()) headers.Set("X-Forwarded-Host", url.host);
  if (!url.proto.empty()) headers.Set("X-Forwarded-Proto", url.proto);
}

void RemoveCorsHeaders(http::Headers& headers) {
  for (const std::string_view name : {"Credentials", "Headers", "Methods", "Origin"}) {
    (void)headers.Remove("Access-Control-Allow-" + std::string(name));
  }
}

}  // namespace apiserver::v0::proxy
