#pragma once

#include <algorithm>
#include <array>
#include <string_view>

#include "apiserver/http/exchange.h"

namespace apiserver::inline v0::server {

// True if a request is answered while a server shuts down: probes, scrapes, and clients whose
// User-Agent is kube-apiserver. The filters that refuse and the one that waits must agree on it.
inline bool ExemptFromRetryAfter(const http::Request& request) {
  constexpr std::array<std::string_view, 4> kPaths = {"/readyz", "/livez", "/healthz", "/metrics"};
  return request.headers.Get("User-Agent").starts_with("kube-apiserver/") ||
         std::any_of(kPaths.begin(), kPaths.end(),
                     [&](std::string_view prefix) { return request.path.starts_with(prefix); });
}

}  // namespace apiserver::inline v0::server
