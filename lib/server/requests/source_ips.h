#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/http/message.h"

namespace apiserver::inline v0::server {

// Where a request came from: X-Forwarded-For, X-Real-Ip if it is not among them, the connection's
// address if it is not the last of them. All but the last can be made up by the client.
// k8s.io/apimachinery/pkg/util/net.SourceIPs.
std::vector<std::string> SourceIPs(const http::Request& request);

// An address as Go's net.IP prints it; nullopt: it is none. Leading zeros of IPv4 are decimal.
std::optional<std::string> CanonicalIP(std::string_view text);

}  // namespace apiserver::inline v0::server
