#pragma once  // Library-internal: other rooms include this header.

#include <string_view>

namespace apiserver::inline v0::http {

// Returns whether a Host header or the authority of a URL may say `host` (RFC 9110, 7.2; RFC 3986,
// 3.2): a name or an address, an IPv6 address in brackets, and maybe a port up to 65535. No user
// before an '@', and nothing that Go's net/http refuses. Empty: true.
bool IsHost(std::string_view host);

}  // namespace apiserver::inline v0::http
