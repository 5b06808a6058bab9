#pragma once  // Library-internal: other rooms include this header.

#include <string>
#include <string_view>

#include "apiserver/base/status.h"
#include "apiserver/client/http_client.h"

namespace apiserver::inline v0::client {

// The parts of a URL.
struct CallTarget {
  std::string base;     // "https://HOST:PORT", where to connect.
  std::string to_host;  // Its parts.
  std::string to_port;
  std::string host;       // The name in the certificate: "webhook.default.svc", "::1".
  std::string host_line;  // The Host header.
  std::string resource;   // "/path?query".
  bool tls = true;
};

// kInvalid: not "http[s]://host[:port][/path][?query]".
Result<CallTarget> ParseCallTarget(const std::string& url, const std::string& address);

// kInvalid: not a valid method or header, or one that belongs to the transport.
Status CheckCallHead(const HttpRequest& request);

}  // namespace apiserver::inline v0::client
