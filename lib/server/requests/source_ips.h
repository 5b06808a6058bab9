#pragma once

#include <string>
#include <vector>

#include "apiserver/http/message.h"

namespace apiserver::inline v0::server {

// Returns the source addresses of a request: X-Forwarded-For, X-Real-Ip if it is not among them,
// the connection's address if it is not the last of them. A client can make up all but the last.
// k8s.io/apimachinery/pkg/util/net.SourceIPs.
std::vector<std::string> SourceIPs(const http::Request& request);

}  // namespace apiserver::inline v0::server
