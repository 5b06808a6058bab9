#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "apiserver/http/message.h"
#include "apiserver/proxy/location.h"
#include "proxy/forward_headers.h"
#include "text/go_url.h"

// The URLs of forwarded requests: k8s.io/apimachinery/pkg/util/proxy, UpgradeAwareHandler, and Go's
// net/http/httputil.NewSingleHostReverseProxy.
namespace apiserver::inline v0::proxy {

// How the URL that is asked for and the Location make the URL of the backend. The names are those
// of UpgradeAwareHandler.
struct UrlRules {
  bool use_request_location = false;
  bool append_location_path = false;
};

// Returns the URL of `request` as a Go handler sees it: path and query, without a host.
text::GoUrl RequestUrl(const http::Request& request);
// Returns `location` as a URL.
text::GoUrl LocationUrl(const Location& location);

// Returns the URL of a plain request, before the reverse proxy joins it with the Location: what
// redirects and forwarded headers are made of. `asked` is the URL asked for. The query is that of
// `asked`; the path has a slash at its end if that of `asked` has one.
text::GoUrl PlainUrl(const Location& location, const text::GoUrl& asked);

// Returns where a request without a path is sent instead: to the same path with a slash. nullopt:
// the request is forwarded.
std::optional<std::string> RootRedirect(const text::GoUrl& plain, const text::GoUrl& asked,
                                        std::string_view method);

// Returns the target of the request line: "/a%20b?x=y".
std::string PlainTarget(const Location& location, const text::GoUrl& asked, const UrlRules& rules);
std::string UpgradeTarget(const Location& location, const text::GoUrl& asked,
                          const UrlRules& rules);

// Returns the part of the path asked for that stands before the Location's: the prefix that links
// of the backend lack. Follows UpgradeAwareHandler.defaultProxyTransport.
std::string PathPrefix(const Location& location, const text::GoUrl& asked);

// Returns the values of the X-Forwarded-* headers. Follows Transport.RoundTrip.
ForwardedUrl ForwardedUrlOf(const text::GoUrl& plain, const text::GoUrl& asked,
                            const std::string& prefix);

}  // namespace apiserver::inline v0::proxy
