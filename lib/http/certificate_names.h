#pragma once  // Library-internal: other rooms include this header.

#include <string>

#include "apiserver/base/status.h"

namespace apiserver::inline v0::http {

// Returns the server name that a client must verify when it dials the IP address `host` of a server
// with this certificate (PEM, the chain's first). Empty: the certificate is for `host`; else the
// first DNS name that is no wildcard. kInvalid: it has neither, or is no certificate.
Result<std::string> ServerNameFor(const std::string& certificate_pem, const std::string& host);

}  // namespace apiserver::inline v0::http
