#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "apiserver/http/headers.h"
#include "apiserver/http/message.h"

// The headers of forwarded requests and answers: Go's net/http/httputil.ReverseProxy, and what
// k8s.io/apimachinery/pkg/util/proxy adds to it.
namespace apiserver::inline v0::proxy {

// Returns whether the client asks for an upgrade in upstream's sense: a value of Connection that
// contains "upgrade". An Upgrade header need not be there. A request over HTTP/2 is none, and
// neither is one that asks for HTTP/2 alone.
bool IsUpgradeRequest(const http::Request& request);

// Removes the fields for which `unwanted` is true.
template <class Predicate>
void RemoveFields(http::Headers& headers, Predicate unwanted) {
  http::Headers kept;
  kept.Reserve(headers.size());
  for (const http::Headers::Field& field : headers) {
    if (!unwanted(field)) kept.Add(field.name, field.value);
  }
  headers = std::move(kept);
}

// Removes the headers that concern one connection only: those named by Connection, and the ones
// that RFC 9110, 7.6.1 lists.
void RemoveHopByHop(http::Headers& headers);

// Appends the address of the client to X-Forwarded-For, folded into one field. `remote_address`
// without a port ("", in process): nothing is added.
void AppendForwardedFor(http::Headers& headers, std::string_view remote_address);

// Returns the headers of a request that is forwarded without an upgrade. Host is not among them.
http::Headers PlainRequestHeaders(const http::Request& request);

// Returns the headers of a forwarded upgrade: the client's, but with one Connection and one Upgrade
// field, so that no other header can be named as belonging to the connection. Host is `host`.
http::Headers UpgradeRequestHeaders(const http::Request& request, const std::string& host);

// The values of X-Forwarded-Uri, -Host and -Proto. Empty: the header of the client stays.
struct ForwardedUrl {
  std::string uri = {};
  std::string host = {};
  std::string proto = {};
};
void SetForwardedUrl(http::Headers& headers, const ForwardedUrl& url);

// Removes a backend's permissions for pages of other origins: they would be permissions to use the
// API server.
void RemoveCorsHeaders(http::Headers& headers);

}  // namespace apiserver::inline v0::proxy
