#pragma once

#include <string>
#include <vector>

#include "apiserver/http/message.h"

namespace apiserver::inline v0::server {

// Where a request came from: X-Forwarded-For, X-Real-Ip if it is not among them, the connection's
// address if it is not the last of them. All but the last can be made up by the client.
// k8s.io/apimachinery/pkg/util/net.SourceIPs.
std::vector<std::string> SourceIPs(const http::Request& request);

}  // namespace apiserver::inline v0::server
