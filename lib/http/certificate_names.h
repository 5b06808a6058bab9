#pragma once  // Library-internal: other rooms include this header.

#include <string>

#include "apiserver/base/status.h"

namespace apiserver::inline v0::http {

// What clients that dial the IP address `host` must call a server with this certificate (PEM, the
// chain's first) to be able to verify it: empty if it is for `host`, else its first DNS name that
// is no wildcard. kInvalid: it has neither, or is no certificate.
Result<std::string> ServerNameFor(const std::string& certificate_pem, const std::string& host);

}  // namespace apiserver::inline v0::http
